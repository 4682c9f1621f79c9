use countersign::domain::secret::Secret;

fn print(secret: &Secret) -> String {
    format!("{secret:?}")
}

fn main() {}
