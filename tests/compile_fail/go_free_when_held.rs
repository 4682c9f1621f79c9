use countersign::gate::{clear, site::OnSite};

fn free(on: OnSite) {
    let _ = clear::free(on);
}

fn main() {}
