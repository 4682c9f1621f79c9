use countersign::snapshot::draw::Masked;

fn forge(picture: image::RgbaImage) -> Masked {
    Masked { picture, scale: 1.0 }
}

fn main() {}
