CREATE TABLE `item` (
  `i_id` int(6) NOT NULL,
  `i_im_id` int(11) DEFAULT NULL,
  `i_name` varchar(24) CHARACTER SET latin1 COLLATE latin1_bin DEFAULT NULL,
  `i_price` decimal(5,2) DEFAULT NULL,
  `i_data` varchar(50) CHARACTER SET latin1 COLLATE latin1_bin DEFAULT NULL,
  PRIMARY KEY (`i_id`)
) ENGINE=InnoDB DEFAULT CHARSET=latin1 COLLATE=latin1_swedish_ci;
CREATE TABLE `warehouse` (
  `w_id` int(6) NOT NULL,
  `w_ytd` decimal(12,2) DEFAULT NULL,
  `w_tax` decimal(4,4) DEFAULT NULL,
  `w_name` varchar(10) CHARACTER SET latin1 COLLATE latin1_bin DEFAULT NULL,
  `w_street_1` varchar(20) CHARACTER SET latin1 COLLATE latin1_bin DEFAULT NULL,
  `w_street_2` varchar(20) CHARACTER SET latin1 COLLATE latin1_bin DEFAULT NULL,
  `w_city` varchar(20) CHARACTER SET latin1 COLLATE latin1_bin DEFAULT NULL,
  `w_state` char(2) CHARACTER SET latin1 COLLATE latin1_bin DEFAULT NULL,
  `w_zip` char(9) CHARACTER SET latin1 COLLATE latin1_bin DEFAULT NULL,
  PRIMARY KEY (`w_id`)
) ENGINE=InnoDB DEFAULT CHARSET=latin1 COLLATE=latin1_swedish_ci;
CREATE TABLE `district` (
  `d_id` int(2) NOT NULL,
  `d_w_id` int(6) NOT NULL,
  `d_ytd` decimal(12,2) DEFAULT NULL,
  `d_tax` decimal(4,4) DEFAULT NULL,
  `d_next_o_id` int(11) DEFAULT NULL,
  `d_name` varchar(10) CHARACTER SET latin1 COLLATE latin1_bin DEFAULT NULL,
  `d_street_1` varchar(20) CHARACTER SET latin1 COLLATE latin1_bin DEFAULT NULL,
  `d_street_2` varchar(20) CHARACTER SET latin1 COLLATE latin1_bin DEFAULT NULL,
  `d_city` varchar(20) CHARACTER SET latin1 COLLATE latin1_bin DEFAULT NULL,
  `d_state` char(2) CHARACTER SET latin1 COLLATE latin1_bin DEFAULT NULL,
  `d_zip` char(9) CHARACTER SET latin1 COLLATE latin1_bin DEFAULT NULL,
  PRIMARY KEY (`d_w_id`,`d_id`)
) ENGINE=InnoDB DEFAULT CHARSET=latin1 COLLATE=latin1_swedish_ci;
CREATE TABLE `customer` (
  `c_id` int(5) NOT NULL,
  `c_d_id` int(2) NOT NULL,
  `c_w_id` int(6) NOT NULL,
  `c_first` varchar(16) CHARACTER SET latin1 COLLATE latin1_bin DEFAULT NULL,
  `c_middle` char(2) CHARACTER SET latin1 COLLATE latin1_bin DEFAULT NULL,
  `c_last` varchar(16) CHARACTER SET latin1 COLLATE latin1_bin DEFAULT NULL,
  `c_street_1` varchar(20) CHARACTER SET latin1 COLLATE latin1_bin DEFAULT NULL,
  `c_street_2` varchar(20) CHARACTER SET latin1 COLLATE latin1_bin DEFAULT NULL,
  `c_city` varchar(20) CHARACTER SET latin1 COLLATE latin1_bin DEFAULT NULL,
  `c_state` char(2) CHARACTER SET latin1 COLLATE latin1_bin DEFAULT NULL,
  `c_zip` char(9) CHARACTER SET latin1 COLLATE latin1_bin DEFAULT NULL,
  `c_phone` char(16) CHARACTER SET latin1 COLLATE latin1_bin DEFAULT NULL,
  `c_since` datetime DEFAULT NULL,
  `c_credit` char(2) CHARACTER SET latin1 COLLATE latin1_bin DEFAULT NULL,
  `c_credit_lim` decimal(12,2) DEFAULT NULL,
  `c_discount` decimal(4,4) DEFAULT NULL,
  `c_balance` decimal(12,2) DEFAULT NULL,
  `c_ytd_payment` decimal(12,2) DEFAULT NULL,
  `c_payment_cnt` int(8) DEFAULT NULL,
  `c_delivery_cnt` int(8) DEFAULT NULL,
  `c_data` varchar(500) CHARACTER SET latin1 COLLATE latin1_bin DEFAULT NULL,
  PRIMARY KEY (`c_w_id`,`c_d_id`,`c_id`),
  KEY `c_w_id` (`c_w_id`,`c_d_id`,`c_last`,`c_first`)
) ENGINE=InnoDB DEFAULT CHARSET=latin1 COLLATE=latin1_swedish_ci;
CREATE TABLE `history` (
  `h_c_id` int(11) DEFAULT NULL,
  `h_c_d_id` int(11) DEFAULT NULL,
  `h_c_w_id` int(11) DEFAULT NULL,
  `h_d_id` int(11) DEFAULT NULL,
  `h_w_id` int(11) DEFAULT NULL,
  `h_date` datetime DEFAULT NULL,
  `h_amount` decimal(6,2) DEFAULT NULL,
  `h_data` varchar(24) CHARACTER SET latin1 COLLATE latin1_bin DEFAULT NULL
) ENGINE=InnoDB DEFAULT CHARSET=latin1 COLLATE=latin1_swedish_ci;
CREATE TABLE `stock` (
  `s_i_id` int(6) NOT NULL,
  `s_w_id` int(6) NOT NULL,
  `s_quantity` int(6) DEFAULT NULL,
  `s_dist_01` char(24) CHARACTER SET latin1 COLLATE latin1_bin DEFAULT NULL,
  `s_dist_02` char(24) CHARACTER SET latin1 COLLATE latin1_bin DEFAULT NULL,
  `s_dist_03` char(24) CHARACTER SET latin1 COLLATE latin1_bin DEFAULT NULL,
  `s_dist_04` char(24) CHARACTER SET latin1 COLLATE latin1_bin DEFAULT NULL,
  `s_dist_05` char(24) CHARACTER SET latin1 COLLATE latin1_bin DEFAULT NULL,
  `s_dist_06` char(24) CHARACTER SET latin1 COLLATE latin1_bin DEFAULT NULL,
  `s_dist_07` char(24) CHARACTER SET latin1 COLLATE latin1_bin DEFAULT NULL,
  `s_dist_08` char(24) CHARACTER SET latin1 COLLATE latin1_bin DEFAULT NULL,
  `s_dist_09` char(24) CHARACTER SET latin1 COLLATE latin1_bin DEFAULT NULL,
  `s_dist_10` char(24) CHARACTER SET latin1 COLLATE latin1_bin DEFAULT NULL,
  `s_ytd` bigint(10) DEFAULT NULL,
  `s_order_cnt` int(6) DEFAULT NULL,
  `s_remote_cnt` int(6) DEFAULT NULL,
  `s_data` varchar(50) CHARACTER SET latin1 COLLATE latin1_bin DEFAULT NULL,
  PRIMARY KEY (`s_w_id`,`s_i_id`)
) ENGINE=InnoDB DEFAULT CHARSET=latin1 COLLATE=latin1_swedish_ci;
CREATE TABLE `orders` (
  `o_id` int(11) NOT NULL,
  `o_w_id` int(11) NOT NULL,
  `o_d_id` int(11) NOT NULL,
  `o_c_id` int(11) DEFAULT NULL,
  `o_carrier_id` int(11) DEFAULT NULL,
  `o_ol_cnt` int(11) DEFAULT NULL,
  `o_all_local` int(11) DEFAULT NULL,
  `o_entry_d` datetime DEFAULT NULL,
  PRIMARY KEY (`o_w_id`,`o_d_id`,`o_id`),
  KEY `o_w_id` (`o_w_id`,`o_d_id`,`o_c_id`,`o_id`)
) ENGINE=InnoDB DEFAULT CHARSET=latin1 COLLATE=latin1_swedish_ci;
CREATE TABLE `new_order` (
  `no_w_id` int(11) NOT NULL,
  `no_d_id` int(11) NOT NULL,
  `no_o_id` int(11) NOT NULL,
  PRIMARY KEY (`no_w_id`,`no_d_id`,`no_o_id`)
) ENGINE=InnoDB DEFAULT CHARSET=latin1 COLLATE=latin1_swedish_ci;
CREATE TABLE `order_line` (
  `ol_w_id` int(11) NOT NULL,
  `ol_d_id` int(11) NOT NULL,
  `ol_o_id` int(11) NOT NULL,
  `ol_number` int(11) NOT NULL,
  `ol_i_id` int(11) DEFAULT NULL,
  `ol_delivery_d` datetime DEFAULT NULL,
  `ol_amount` int(11) DEFAULT NULL,
  `ol_supply_w_id` int(11) DEFAULT NULL,
  `ol_quantity` int(11) DEFAULT NULL,
  `ol_dist_info` char(24) CHARACTER SET latin1 COLLATE latin1_bin DEFAULT NULL,
  PRIMARY KEY (`ol_w_id`,`ol_d_id`,`ol_o_id`,`ol_number`)
) ENGINE=InnoDB DEFAULT CHARSET=latin1 COLLATE=latin1_swedish_ci;
