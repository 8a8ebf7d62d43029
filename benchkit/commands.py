"""What all groups of commands have in common: order, errors as lines, exit codes, help texts."""

import click

from benchkit.errors import BenchkitError, unknown_name

ERROR, INTERRUPTED = 1, 130


class Commands(click.Group):
    """The commands in the order they are written here; their errors are one line each."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of their definition."""
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; one that does not exist is answered with the nearest."""
        if args and not args[0].startswith("-") and args[0] not in self.commands:
            raise click.UsageError(unknown_name("command", args[0], self.commands), ctx)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; turn what may go wrong into a line and an exit code."""
        try:
            return super().invoke(ctx)
        except BenchkitError as error:
            report(f"error: {error}")
            ctx.exit(ERROR)
        except KeyboardInterrupt:
            report("interrupted")
            ctx.exit(INTERRUPTED)


def report(message: str) -> None:
    """Print to the standard error."""
    click.echo(message, err=True)


def examples(*lines: str) -> str:
    """Return what a command's help ends with."""
    return verbatim("Examples:\n" + "\n".join(f"  {line}" for line in lines))


def verbatim(text: str) -> str:
    """Return a text for click's help with its lines as they are: a mark before each paragraph."""
    return "\n\n".join(f"\b\n{paragraph}" for paragraph in text.split("\n\n"))
