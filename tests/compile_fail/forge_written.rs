use countersign::gate::clear::Cleared;
use countersign::journal::{CallRecord, Written};

fn forge(cleared: Cleared) -> Written {
    Written { cleared, sequence: 1, call: CallRecord::default() }
}

fn main() {}
