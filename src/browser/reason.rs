//! Why a browser was refused: constants that hold no path, name or number (security P3).

use crate::error::{Code, Detail, Refusal};

/// A refusal with its constant reason.
pub(super) fn refuse(code: Code, reason: &'static str) -> Refusal {
    Refusal::new(code).with(Detail::Reason(reason))
}

macro_rules! reasons {
    ($( $name:ident $text:literal; )*) => {
        $( #[doc = $text] pub const $name: &str = $text; )*
    };
}

reasons! {
    NO_DIRECTORY "the profile directory does not exist yet";
    NO_PORT_FILE "the profile directory has no port file";
    NO_LISTENER "nothing listens on the port that the port file names";
    OTHER_ID "the port file names another run of the browser than the one that answers";
    ENDED "the process ended while it was looked at";

    LINK "the profile directory is a symbolic link";
    NOT_A_DIRECTORY "the profile directory is not a directory";
    NOT_OURS "the profile directory belongs to another user";
    OPEN_MODE "the profile directory's mode is not 0700";
    OPEN_ABOVE "a directory above the profile directory can be changed by other users";
    DIRECTORY_UNREADABLE "the profile directory cannot be read";
    DEFAULT_PROFILE "the profile directory is a browser's everyday one; a dedicated one is required";

    PORT_FILE_LINK "the port file is a symbolic link";
    PORT_FILE_KIND "the port file is not an ordinary file";
    PORT_FILE_OWNER "the port file belongs to another user, or others can write it";
    PORT_FILE_FORM "the port file does not have the form that the browser writes";
    PORT_FILE_UNREADABLE "the port file cannot be read";

    TABLE_UNREADABLE "the kernel's table of connections cannot be read";
    WILDCARD "what listens on the port listens on every address of the machine";
    OTHER_LOOPBACK "what listens on the port does not listen on 127.0.0.1";
    SEVERAL_LISTENERS "several sockets listen on the port";
    OTHER_USER "what listens on the port belongs to another user";
    NO_HOLDER "no process of this user holds the listening socket";
    SEVERAL_HOLDERS "several processes hold the listening socket";
    PROCESS_UNREADABLE "the process that listens on the port cannot be looked at";
    NO_ALLOWED_PROGRAM "none of the browser programs that the profile allows is installed";
    OTHER_PROGRAM "what listens on the port is not a browser program that the profile allows";
    REPLACED_PROGRAM "the browser's program was replaced while it ran; start the browser again";
    PROGRAM_OPEN "the browser's program can be changed by other users";
    NOT_A_BROWSER "what listens on the port does not answer like a browser";
    SILENT "the browser itself did not answer in time";
    NOT_ACCEPTED "the browser did not take this connection itself";
    OTHER_PROCESS "the connection was taken by another process";
    RESTARTED "the browser's process is another one than before";

    NO_USER_DATA_DIR "the browser's command line names no profile directory";
    SEVERAL_USER_DATA_DIRS "the browser's command line names several profile directories";
    RELATIVE_USER_DATA_DIR "the browser's command line names a profile directory that is not absolute";
    NOT_LOCKED "the profile directory is not locked by the browser that listens on the port";
    OTHER_USER_DATA_DIR "the browser runs on another profile directory than the operator's";
}
