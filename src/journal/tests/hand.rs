//! The journal read without our own code, as docs/journal-format.md says.

use std::io::Write as _;
use std::process::{Command, Stdio};

use age::secrecy::SecretString;
use base64::Engine as _;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};

use super::*;

fn hmac(key: &[u8], parts: &[&[u8]]) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
    parts.iter().for_each(|part| mac.update(part));
    mac.finalize().into_bytes().to_vec()
}

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap())
        .collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

#[test]
fn links_payloads_and_macs_are_as_the_document_says() {
    let scratch = Scratch::new();
    write_story(&scratch);
    let identity: age::x25519::Identity = scratch.identity.parse().unwrap();
    let text = String::from_utf8(scratch.bytes()).unwrap();
    let (mut previous, mut key, mut kinds) = ("0".repeat(64), Vec::new(), Vec::new());
    for (at, line) in text.lines().enumerate() {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(value["seq"], at as u64 + 1);
        assert_eq!(value["prev"].as_str().unwrap(), previous);
        let payload = base64::engine::general_purpose::STANDARD
            .decode(value["payload"].as_str().unwrap())
            .unwrap();
        let plain: serde_json::Value =
            serde_json::from_slice(&age::decrypt(&identity, &payload).unwrap()).unwrap();
        kinds.push(plain["entry"]["kind"].as_str().unwrap().to_owned());
        assert_eq!(plain["seq"], value["seq"]);
        assert_eq!(plain["session"].as_str().unwrap().len(), 32);
        assert_eq!(plain["time"]["boot"].as_str().unwrap().len(), 36);
        assert!(plain["time"]["wall"].as_str().unwrap().ends_with('Z'));
        if plain["entry"]["kind"] == "started" {
            key = unhex(plain["key"].as_str().unwrap());
        }
        let m = hmac(&key, &[b"countersign journal v1 mac"]);
        let number = (at as u64 + 1).to_be_bytes();
        let mac = hmac(
            &m,
            &[
                b"countersign journal v1 entry",
                &1_u64.to_be_bytes(),
                &number,
                &unhex(&previous),
                &payload,
            ],
        );
        assert_eq!(value["mac"].as_str().unwrap(), hex(&mac));
        key = hmac(&key, &[b"countersign journal v1 next"]);
        previous = hex(&Sha256::digest(line.as_bytes()));
    }
    assert_eq!(kinds.len(), 13);
    assert_eq!(kinds[2], "asked");
}

fn installed(program: &str) -> bool {
    Command::new(program)
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|s| s.success())
}

#[test]
fn jq_base64_and_age_read_an_entry_and_a_capture() {
    if !(installed("jq") && installed("age")) {
        // The form itself is held by the test above; this one adds the distribution's own programs where they are.
        return;
    }
    let scratch = Scratch::new();
    let mut journal = scratch.open();
    let sealed = journal.seal(SealKind::Before, b"a picture").unwrap();
    journal.append(&refused()).unwrap();
    let key = scratch.root.path().join("identity");
    std::fs::write(&key, format!("{}\n", scratch.identity)).unwrap();
    let script = r#"sed -n 2p "$1" | jq -r .payload | base64 -d | age -d -i "$2" | jq -c '[.entry.kind, .entry.code]'; age -d -i "$2" "$3""#;
    let capture = scratch.path().join("captures").join(sealed.name().as_str());
    let output = Command::new("sh")
        .args(["-c", script, "sh"])
        .arg(scratch.file())
        .arg(&key)
        .arg(&capture)
        .output()
        .unwrap();
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        "[\"refused\",\"L401\"]\na picture",
        "{:?}",
        output.stderr
    );
}

/// The wrapped identity is what `age -d -i` takes: an identity file in an age file with a passphrase.
#[test]
fn the_wrapped_identity_is_an_ordinary_one() {
    let scratch = Scratch::new();
    let keys = Directory::create(&scratch.root.path().join("keys")).unwrap();
    let passphrase = crate::domain::secret::Secret::new("correct horse".to_owned());
    let recipient = generate(&keys, &passphrase, WorkFactor::new(2).unwrap()).unwrap();
    let file = std::fs::read(
        scratch
            .root
            .path()
            .join("keys")
            .join(IDENTITY_FILE.as_str()),
    )
    .unwrap();
    let mut out = Vec::new();
    let identity = age::scrypt::Identity::new(SecretString::from("correct horse".to_owned()));
    out.write_all(&age::decrypt(&identity, &file).unwrap())
        .unwrap();
    let text = String::from_utf8(out).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], format!("# public key: {recipient}"));
    assert!(lines[1].starts_with("AGE-SECRET-KEY-1") && lines.len() == 2);
}
