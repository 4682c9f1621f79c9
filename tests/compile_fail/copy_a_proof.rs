use countersign::gate::clear::Cleared;

fn copy(cleared: &Cleared) -> Cleared {
    cleared.clone()
}

fn main() {}
