"""The five stored procedures of TPROC-C, as SQL text.

Names, parameters and their order are HammerDB's in both flavours, so that either can be called in
the same way. What they do is the flavour's: those of ``hammerdb6`` do what HammerDB 6 does, with
every deviation from TPC-C, and cost the server as much; those of ``spec`` follow TPC-C 5.11.

One thing is added to both: NEWORD returns 0 as the order's number when it rolled back, so that a
client can count what the procedure does not report.

======================  ====================================  ===================================
..                      hammerdb6                             spec
======================  ====================================  ===================================
unused item             1 in 99 new orders                    1 in 100
items                   uniform                               NURand(8191)
stock row               read, then written                    read with a lock, then written
s_quantity              + 91 unless it exceeds the quantity   + 91 where less than 10 would be left
s_ytd, counters         untouched                             kept
ol_amount               with taxes and discount, an integer   quantity x price, a decimal
c_balance on payment    read, increased, written back         decreased in place
customer by last name   one row past the middle               the middle row, ceil(n / 2)
oldest undelivered      without an order, without a lock      the lowest number, locked
district without one    the last district's number again      left out
sum of an order         an integer                            a decimal
======================  ====================================  ===================================
"""

from benchkit.workloads.tprocc_data import DISTRICTS
from benchkit.workloads.tprocc_rules import DRAWS, REMOTE_LINE_PERCENT, UNUSED_ITEM
from benchkit.workloads.tprocc_schema import HAMMERDB, SPEC

_PARAMETERS = {
    "NEWORD": """
  no_w_id INTEGER, no_max_w_id INTEGER, no_d_id INTEGER, no_c_id INTEGER, no_o_ol_cnt INTEGER,
  OUT no_c_discount DECIMAL(4,4), OUT no_c_last VARCHAR(16), OUT no_c_credit VARCHAR(2),
  OUT no_d_tax DECIMAL(4,4), OUT no_w_tax DECIMAL(4,4), INOUT no_d_next_o_id INTEGER,
  IN timestamp DATETIME""",
    "PAYMENT": """
  p_w_id INTEGER, p_d_id INTEGER, p_c_w_id INTEGER, p_c_d_id INTEGER, INOUT p_c_id INTEGER,
  byname INTEGER, p_h_amount DECIMAL(6,2), INOUT p_c_last VARCHAR(16),
  OUT p_w_street_1 VARCHAR(20), OUT p_w_street_2 VARCHAR(20), OUT p_w_city VARCHAR(20),
  OUT p_w_state CHAR(2), OUT p_w_zip CHAR(9), OUT p_d_street_1 VARCHAR(20),
  OUT p_d_street_2 VARCHAR(20), OUT p_d_city VARCHAR(20), OUT p_d_state CHAR(2),
  OUT p_d_zip CHAR(9), OUT p_c_first VARCHAR(16), OUT p_c_middle CHAR(2),
  OUT p_c_street_1 VARCHAR(20), OUT p_c_street_2 VARCHAR(20), OUT p_c_city VARCHAR(20),
  OUT p_c_state CHAR(2), OUT p_c_zip CHAR(9), OUT p_c_phone CHAR(16), OUT p_c_since DATETIME,
  INOUT p_c_credit CHAR(2), OUT p_c_credit_lim DECIMAL(12,2), OUT p_c_discount DECIMAL(4,4),
  INOUT p_c_balance DECIMAL(12,2), OUT p_c_data VARCHAR(500), IN timestamp DATETIME""",
    "DELIVERY": """
  d_w_id INTEGER, d_o_carrier_id INTEGER, IN timestamp DATETIME""",
    "OSTAT": """
  os_w_id INTEGER, os_d_id INTEGER, INOUT os_c_id INTEGER, byname INTEGER,
  INOUT os_c_last VARCHAR(16), OUT os_c_first VARCHAR(16), OUT os_c_middle CHAR(2),
  OUT os_c_balance DECIMAL(12,2), OUT os_o_id INTEGER, OUT os_entdate DATETIME,
  OUT os_o_carrier_id INTEGER""",
    "SLEV": """
  st_w_id INTEGER, st_d_id INTEGER, threshold INTEGER, OUT stock_count INTEGER""",
}

PARAMETER_COUNTS = {"NEWORD": 12, "PAYMENT": 33, "DELIVERY": 3, "OSTAT": 11, "SLEV": 4}
"""How many parameters each procedure has."""

_VIOLATION = """
  DECLARE EXIT HANDLER FOR SQLSTATE '23000' ROLLBACK;"""

# New order

_DIST_COLUMNS = ", ".join(f"s_dist_{number:02}" for number in range(1, DISTRICTS + 1))
_DIST_VARIABLES = ", ".join(f"dist_{number:02}" for number in range(1, DISTRICTS + 1))
_TAKE_DIST = "\n".join(
    f"      WHEN {number} THEN SET dist_info = dist_{number:02};"
    for number in range(1, DISTRICTS + 1)
)

_NEW_QUANTITIES = {
    HAMMERDB: "in_stock > quantity",
    SPEC: "in_stock >= quantity + 10",
}

_STOCK_UPDATES = {
    HAMMERDB: "s_quantity = in_stock",
    SPEC: """s_quantity = in_stock, s_ytd = s_ytd + quantity,
      s_order_cnt = s_order_cnt + 1, s_remote_cnt = s_remote_cnt + (supplier <> no_w_id)""",
}

_AMOUNTS = {
    HAMMERDB: "quantity * price * (1 + no_w_tax + no_d_tax) * (1 - no_c_discount)",
    SPEC: "quantity * price",
}

_LOCKS = {HAMMERDB: "", SPEC: " FOR UPDATE"}


def _new_order_lines(flavour: str) -> str:
    return f"""\
  WHILE line <= no_o_ol_cnt DO
    IF line = no_o_ol_cnt AND unused = 1 THEN
      SET item = {UNUSED_ITEM};
    ELSE
      SET item = {DRAWS[flavour].item_sql};
    END IF;
    SET remote = FLOOR(1 + RAND() * 100), supplier = no_w_id;
    IF remote <= {REMOTE_LINE_PERCENT} AND no_max_w_id > 1 THEN
      SET all_local = 0;
      WHILE supplier = no_w_id DO
        SET supplier = FLOOR(1 + RAND() * no_max_w_id);
      END WHILE;
    END IF;
    SET quantity = FLOOR(1 + RAND() * 10);
    SELECT i_price, i_name, i_data INTO price, name, item_data FROM item WHERE i_id = item;
    SELECT s_quantity, s_data, {_DIST_COLUMNS}
      INTO in_stock, stock_data, {_DIST_VARIABLES}
      FROM stock WHERE s_i_id = item AND s_w_id = supplier{_LOCKS[flavour]};
    IF {_NEW_QUANTITIES[flavour]} THEN
      SET in_stock = in_stock - quantity;
    ELSE
      SET in_stock = in_stock - quantity + 91;
    END IF;
    UPDATE stock SET {_STOCK_UPDATES[flavour]}
      WHERE s_i_id = item AND s_w_id = supplier;
    SET amount = {_AMOUNTS[flavour]};
    CASE no_d_id
{_TAKE_DIST}
    END CASE;
    INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id,
        ol_quantity, ol_amount, ol_dist_info)
      VALUES (order_id, no_d_id, no_w_id, line, item, supplier, quantity, amount, dist_info);
    SET line = line + 1;
  END WHILE;"""


def _new_order(flavour: str) -> str:
    return f"""\
  DECLARE order_id, line, unused, item, supplier, quantity, all_local, remote INTEGER;
  DECLARE in_stock DECIMAL(6);
  DECLARE price DECIMAL(5,2);
  DECLARE amount DECIMAL(6,2);
  DECLARE name VARCHAR(24);
  DECLARE item_data, stock_data VARCHAR(50);
  DECLARE dist_info, {_DIST_VARIABLES} CHAR(24);
  DECLARE EXIT HANDLER FOR SQLSTATE '23000'
    BEGIN ROLLBACK; SET no_d_next_o_id = 0; END;
  DECLARE EXIT HANDLER FOR NOT FOUND
    BEGIN ROLLBACK; SET no_d_next_o_id = 0; END;
  SELECT c_discount, c_last, c_credit, w_tax
    INTO no_c_discount, no_c_last, no_c_credit, no_w_tax
    FROM customer, warehouse
    WHERE w_id = no_w_id AND c_w_id = no_w_id AND c_d_id = no_d_id AND c_id = no_c_id;
  START TRANSACTION;
  SELECT d_next_o_id, d_tax INTO no_d_next_o_id, no_d_tax
    FROM district WHERE d_id = no_d_id AND d_w_id = no_w_id FOR UPDATE;
  UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_id = no_d_id AND d_w_id = no_w_id;
  SET order_id = no_d_next_o_id, all_local = 1, line = 1;
  SET unused = FLOOR(1 + RAND() * {DRAWS[flavour].unused_item_in});
{_new_order_lines(flavour)}
  INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local)
    VALUES (order_id, no_d_id, no_w_id, no_c_id, timestamp, no_o_ol_cnt, all_local);
  INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (order_id, no_d_id, no_w_id);
  COMMIT;"""


# Payment

_CUSTOMER_COLUMNS = (
    "c_street_1, c_street_2, c_city, c_state, c_zip, c_phone, c_credit, c_credit_lim, "
    "c_discount, c_balance, c_since"
)
_CUSTOMER_VARIABLES = (
    "p_c_street_1, p_c_street_2, p_c_city, p_c_state, p_c_zip, p_c_phone, p_c_credit, "
    "p_c_credit_lim, p_c_discount, p_c_balance, p_c_since"
)

# What the two flavours share: the money goes to the warehouse and the district.
_PAY = """\
  START TRANSACTION;
  UPDATE warehouse SET w_ytd = w_ytd + p_h_amount WHERE w_id = p_w_id;
  SELECT w_street_1, w_street_2, w_city, w_state, w_zip, w_name
    INTO p_w_street_1, p_w_street_2, p_w_city, p_w_state, p_w_zip, warehouse_name
    FROM warehouse WHERE w_id = p_w_id;
  UPDATE district SET d_ytd = d_ytd + p_h_amount WHERE d_w_id = p_w_id AND d_id = p_d_id;
  SELECT d_street_1, d_street_2, d_city, d_state, d_zip, d_name
    INTO p_d_street_1, p_d_street_2, p_d_city, p_d_state, p_d_zip, district_name
    FROM district WHERE d_w_id = p_w_id AND d_id = p_d_id;"""

_RECORD_PAYMENT = """
  INSERT INTO history (h_c_d_id, h_c_w_id, h_c_id, h_d_id, h_w_id, h_date, h_amount, h_data)
    VALUES (p_c_d_id, p_c_w_id, p_c_id, p_d_id, p_w_id, timestamp, p_h_amount, paid_at);
  COMMIT;"""

_BY_ID = "c_w_id = p_c_w_id AND c_d_id = p_c_d_id AND c_id = p_c_id"
_BY_NAME = "c_w_id = p_c_w_id AND c_d_id = p_c_d_id AND c_last = p_c_last"

# The balance is read, increased here, and written back: between the two, a delivery or a payment
# at another warehouse can change it, and its change is lost.
_HAMMERDB_PAYMENT = f"""\
  DECLARE past_last, namesakes, fetched INTEGER DEFAULT 0;
  DECLARE warehouse_name, district_name VARCHAR(11);
  DECLARE new_data VARCHAR(500);
  DECLARE paid_at VARCHAR(30);
  DECLARE sorted CURSOR FOR
    SELECT c_first, c_middle, c_id, {_CUSTOMER_COLUMNS}
    FROM customer WHERE {_BY_NAME} ORDER BY c_first;
  DECLARE CONTINUE HANDLER FOR NOT FOUND SET past_last = 1;{_VIOLATION}
{_PAY}
  IF byname = 1 THEN
    SELECT COUNT(c_id) INTO namesakes FROM customer WHERE {_BY_NAME};
    OPEN sorted;
    IF MOD(namesakes, 2) = 1 THEN
      SET namesakes = namesakes + 1;
    END IF;
    WHILE fetched <= namesakes / 2 DO
      FETCH sorted INTO p_c_first, p_c_middle, p_c_id, {_CUSTOMER_VARIABLES};
      SET fetched = fetched + 1;
    END WHILE;
    CLOSE sorted;
  ELSE
    SELECT c_first, c_middle, c_last, {_CUSTOMER_COLUMNS}
      INTO p_c_first, p_c_middle, p_c_last, {_CUSTOMER_VARIABLES}
      FROM customer WHERE {_BY_ID};
  END IF;
  SET p_c_balance = p_c_balance + p_h_amount;
  SET paid_at = CONCAT(warehouse_name, ' ', district_name);
  IF p_c_credit = 'BC' THEN
    SELECT c_data INTO p_c_data FROM customer WHERE {_BY_ID};
    SET new_data = CONCAT(p_c_id, ' ', p_c_d_id, ' ', p_c_w_id, ' ', p_d_id, ' ', p_w_id, ' ',
      FORMAT(p_h_amount, 2), CAST(timestamp AS CHAR), paid_at);
    SET new_data = SUBSTR(CONCAT(new_data, p_c_data), 1, 500 - LENGTH(new_data));
    UPDATE customer SET c_balance = p_c_balance, c_data = new_data WHERE {_BY_ID};
  ELSE
    UPDATE customer SET c_balance = p_c_balance WHERE {_BY_ID};
  END IF;{_RECORD_PAYMENT}"""

_SPEC_PAYMENT = f"""\
  DECLARE skipped INTEGER DEFAULT 0;
  DECLARE warehouse_name, district_name VARCHAR(11);
  DECLARE paid_at VARCHAR(24);
  DECLARE EXIT HANDLER FOR NOT FOUND ROLLBACK;{_VIOLATION}
{_PAY}
  IF byname = 1 THEN
    SELECT (COUNT(*) + 1) DIV 2 - 1 INTO skipped FROM customer WHERE {_BY_NAME};
    SET skipped = GREATEST(skipped, 0);
    SELECT c_id INTO p_c_id FROM customer WHERE {_BY_NAME}
      ORDER BY c_first LIMIT skipped, 1;
  END IF;
  SET paid_at = CONCAT(warehouse_name, '    ', district_name);
  SELECT c_first, c_middle, c_last, {_CUSTOMER_COLUMNS}
    INTO p_c_first, p_c_middle, p_c_last, {_CUSTOMER_VARIABLES}
    FROM customer WHERE {_BY_ID} FOR UPDATE;
  SET p_c_balance = p_c_balance - p_h_amount;
  IF p_c_credit = 'BC' THEN
    SELECT LEFT(CONCAT(p_c_id, ' ', p_c_d_id, ' ', p_c_w_id, ' ', p_d_id, ' ', p_w_id, ' ',
        p_h_amount, ' ', c_data), 500)
      INTO p_c_data FROM customer WHERE {_BY_ID};
    UPDATE customer SET c_balance = c_balance - p_h_amount,
        c_ytd_payment = c_ytd_payment + p_h_amount, c_payment_cnt = c_payment_cnt + 1,
        c_data = p_c_data
      WHERE {_BY_ID};
  ELSE
    UPDATE customer SET c_balance = c_balance - p_h_amount,
        c_ytd_payment = c_ytd_payment + p_h_amount, c_payment_cnt = c_payment_cnt + 1
      WHERE {_BY_ID};
  END IF;{_RECORD_PAYMENT}"""

_PAYMENTS = {HAMMERDB: _HAMMERDB_PAYMENT, SPEC: _SPEC_PAYMENT}

# Delivery

_DISTRICT_OF = "{0}w_id = d_w_id AND {0}d_id = district_id"
_OLDEST = f"FROM new_order WHERE {_DISTRICT_OF.format('no_')}"
_OF_ORDER = f"{_DISTRICT_OF.format('o_')} AND o_id = order_id"
_OF_LINES = f"{_DISTRICT_OF.format('ol_')} AND ol_o_id = order_id"
_OF_CUSTOMER = f"{_DISTRICT_OF.format('c_')} AND c_id = customer_id"

_DELIVER = f"""
    DELETE {_OLDEST} AND no_o_id = order_id;
    SELECT o_c_id INTO customer_id FROM orders WHERE {_OF_ORDER};
    UPDATE orders SET o_carrier_id = d_o_carrier_id WHERE {_OF_ORDER};
    UPDATE order_line SET ol_delivery_d = timestamp WHERE {_OF_LINES};
    SELECT SUM(ol_amount) INTO total FROM order_line WHERE {_OF_LINES};"""

# The locked oldest order may be newer than the transaction's snapshot: its customer has to be
# read as of now, too. What is updated here is seen either way.
_DELIVER_NOW = _DELIVER.replace(
    f"FROM orders WHERE {_OF_ORDER};", f"FROM orders WHERE {_OF_ORDER} FOR UPDATE;"
)

_DELIVERIES = {
    # Without an order in new_order the variable keeps the last district's: nobody handles that.
    HAMMERDB: f"""\
  DECLARE order_id, district_id, customer_id, total INTEGER;{_VIOLATION}
  SET district_id = 1;
  START TRANSACTION;
  WHILE district_id <= {DISTRICTS} DO
    SELECT no_o_id INTO order_id {_OLDEST} LIMIT 1;{_DELIVER}
    UPDATE customer SET c_balance = c_balance + total WHERE {_OF_CUSTOMER};
    SET district_id = district_id + 1;
  END WHILE;
  COMMIT;""",
    SPEC: f"""\
  DECLARE order_id, customer_id INTEGER;
  DECLARE district_id INTEGER DEFAULT 1;
  DECLARE total DECIMAL(12,2);
  DECLARE CONTINUE HANDLER FOR NOT FOUND SET order_id = NULL;{_VIOLATION}
  START TRANSACTION;
  WHILE district_id <= {DISTRICTS} DO
    SELECT no_o_id INTO order_id {_OLDEST} ORDER BY no_o_id LIMIT 1 FOR UPDATE;
    IF order_id IS NOT NULL THEN{_DELIVER_NOW.replace(chr(10), chr(10) + "  ")}
      UPDATE customer SET c_balance = c_balance + total, c_delivery_cnt = c_delivery_cnt + 1
        WHERE {_OF_CUSTOMER};
    END IF;
    SET district_id = district_id + 1;
  END WHILE;
  COMMIT;""",
}

# Order status

_OS_NAME = "c_last = os_c_last AND c_d_id = os_d_id AND c_w_id = os_w_id"
_OS_ID = "c_id = os_c_id AND c_d_id = os_d_id AND c_w_id = os_w_id"

_LISTS = ("i_id", "supply_w_id", "quantity", "amount", "delivery_d")
_LIST_LINES = "\n".join(
    f"      SET {name}_list = CONCAT({name}_list, ',', line, ',', CAST({name} AS CHAR));"
    for name in _LISTS
)

_PICK_STATUS = {
    HAMMERDB: """
    IF MOD(namesakes, 2) = 1 THEN
      SET namesakes = namesakes + 1;
    END IF;
    OPEN sorted;
    WHILE fetched <= namesakes / 2 DO
      FETCH sorted INTO os_c_balance, os_c_first, os_c_middle, os_c_id;
      SET fetched = fetched + 1;
    END WHILE;
    CLOSE sorted;""",
    SPEC: """
    OPEN sorted;
    WHILE fetched < (namesakes + 1) DIV 2 DO
      FETCH sorted INTO os_c_balance, os_c_first, os_c_middle, os_c_id;
      SET fetched = fetched + 1;
    END WHILE;
    CLOSE sorted;""",
}

_LINE_AMOUNTS = {HAMMERDB: "INTEGER", SPEC: "DECIMAL(6,2)"}


def _order_status(flavour: str) -> str:
    return f"""\
  DECLARE past_last, namesakes, fetched, line INTEGER DEFAULT 0;
  DECLARE i_id, supply_w_id, quantity INTEGER;
  DECLARE amount {_LINE_AMOUNTS[flavour]};
  DECLARE delivery_d DATETIME;
  DECLARE {", ".join(f"{name}_list" for name in _LISTS)} VARCHAR(420) DEFAULT 'CSV,';
  DECLARE sorted CURSOR FOR
    SELECT c_balance, c_first, c_middle, c_id FROM customer WHERE {_OS_NAME} ORDER BY c_first;
  DECLARE order_lines CURSOR FOR
    SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d
    FROM order_line WHERE ol_o_id = os_o_id AND ol_d_id = os_d_id AND ol_w_id = os_w_id;
  DECLARE CONTINUE HANDLER FOR NOT FOUND SET past_last = 1;{_VIOLATION}
  START TRANSACTION;
  IF byname = 1 THEN
    SELECT COUNT(c_id) INTO namesakes FROM customer WHERE {_OS_NAME};{_PICK_STATUS[flavour]}
  ELSE
    SELECT c_balance, c_first, c_middle, c_last
      INTO os_c_balance, os_c_first, os_c_middle, os_c_last
      FROM customer WHERE {_OS_ID};
  END IF;
  SELECT o_id, o_carrier_id, o_entry_d INTO os_o_id, os_o_carrier_id, os_entdate
    FROM (SELECT o_id, o_carrier_id, o_entry_d FROM orders
      WHERE o_d_id = os_d_id AND o_w_id = os_w_id AND o_c_id = os_c_id
      ORDER BY o_id DESC LIMIT 1) AS latest;
  SET past_last = 0;
  OPEN order_lines;
  REPEAT
    FETCH order_lines INTO i_id, supply_w_id, quantity, amount, delivery_d;
    IF NOT past_last THEN
{_LIST_LINES}
      SET line = line + 1;
    END IF;
  UNTIL past_last END REPEAT;
  CLOSE order_lines;
  COMMIT;"""


# Stock level

_STOCK_LEVEL = f"""\
  DECLARE next_order INTEGER;{_VIOLATION}
  DECLARE EXIT HANDLER FOR NOT FOUND ROLLBACK;
  START TRANSACTION;
  SELECT d_next_o_id INTO next_order FROM district WHERE d_w_id = st_w_id AND d_id = st_d_id;
  SELECT COUNT(DISTINCT s_i_id) INTO stock_count
    FROM order_line, stock
    WHERE ol_w_id = st_w_id AND ol_d_id = st_d_id
      AND ol_o_id < next_order AND ol_o_id >= next_order - 20
      AND s_w_id = st_w_id AND s_i_id = ol_i_id AND s_quantity < threshold;
  COMMIT;"""


def create_procedures(flavour: str) -> tuple[str, ...]:
    """Return the five CREATE PROCEDURE statements of a flavour."""
    bodies = {
        "NEWORD": _new_order(flavour),
        "PAYMENT": _PAYMENTS[flavour],
        "DELIVERY": _DELIVERIES[flavour],
        "OSTAT": _order_status(flavour),
        "SLEV": _STOCK_LEVEL,
    }
    return tuple(
        f"CREATE PROCEDURE {name} ({_PARAMETERS[name]})\nBEGIN\n{body}\nEND"
        for name, body in bodies.items()
    )
