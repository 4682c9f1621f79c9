//! Every code a client can be given. Numbers are never reused; docs/codes.md is generated from this table.

use std::fmt;

/// The families of codes, along the straight line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// Admission: arguments, caps, rate.
    Admission,
    /// Marks and identity.
    Marks,
    /// Sites.
    Site,
    /// Locks and the person's answer.
    Lock,
    /// The gesture.
    Gesture,
    /// Captures.
    Capture,
    /// The journal.
    Journal,
    /// The profile.
    Policy,
    /// The browser.
    Browser,
    /// We broke.
    Internal,
}

macro_rules! codes {
    ($( $name:ident $code:literal $family:ident $retryable:literal $message:literal, $tool:literal => $suggestion:literal; )*) => {
        /// One code.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Code {
            $( #[doc = $message] $name, )*
        }

        impl Code {
            /// All codes, in the table's order.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// The stable spelling: a family letter and a number.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $code),* }
            }

            /// What happened, as a constant of ours: no path, secret, matched word or page text (security P3).
            #[must_use]
            pub const fn message(self) -> &'static str {
                match self { $(Self::$name => $message),* }
            }

            /// What the model can do next.
            #[must_use]
            pub const fn suggestion(self) -> &'static str {
                match self { $(Self::$name => $suggestion),* }
            }

            /// The tool the suggestion names, or "" where it names none. Where that tool is not registered, the
            /// suggestion is replaced by one that only names `status`.
            #[must_use]
            pub const fn suggested_tool(self) -> &'static str {
                match self { $(Self::$name => $tool),* }
            }

            /// Whether the same call may succeed later without any change of its arguments.
            #[must_use]
            pub const fn retryable(self) -> bool {
                match self { $(Self::$name => $retryable),* }
            }

            /// The family.
            #[must_use]
            pub const fn family(self) -> Family {
                match self { $(Self::$name => Family::$family),* }
            }
        }
    };
}

codes! {
    ArgumentsInvalid "A101" Admission false "an argument is missing, unknown or out of range", "" => "correct the argument named in details and call again";
    RateLimited "A102" Admission true "calls come faster than the profile allows", "" => "wait for retry_after_ms, then call again";
    ActionsSpent "A103" Admission false "this session's actions are used up", "" => "stop here and tell the person what is left to do";
    NavigationsSpent "A104" Admission false "this session's navigations are used up", "" => "stop here and tell the person what is left to do";
    TooManyTabs "A105" Admission false "as many tabs are open as the profile allows", "close_tab" => "close a tab with close_tab, then try again";
    TextTooLong "A106" Admission false "the text is longer than the profile allows", "fill" => "shorten the text and call fill again";
    UnknownTab "A107" Admission false "there is no such tab in this session", "list_tabs" => "call list_tabs and use one of its tabs";
    ActionUnderWay "A108" Admission true "another action is under way", "" => "wait for its reply, then call again";
    Stopping "A109" Admission false "the session is ending", "" => "begin nothing new";

    UnknownSnapshot "M201" Marks false "there is no such snapshot, or it has expired", "observe" => "call observe and use the snapshot_id and marks it returns";
    UnknownMark "M202" Marks false "this snapshot has no such mark", "observe" => "use a mark listed with this snapshot, or call observe again";
    Stale "M203" Marks false "the element is not there any more, or not where it was", "observe" => "call observe and name the element by its new mark";
    Changed "M204" Marks false "the element is the same but says or does something else now", "observe" => "call observe and look at the element again before acting";
    Covered "M205" Marks false "another element covers the one named", "observe" => "deal with what covers it (details name its mark where it has one), then call observe";
    NotVisible "M206" Marks false "the element cannot be seen or has no size", "observe" => "call observe; the element may need another one to be opened first";
    Disabled "M207" Marks false "the element is disabled or read-only", "observe" => "fulfil what the page asks for first, then call observe";
    WrongKind "M208" Marks false "this tool does not fit this kind of element", "observe" => "choose the tool for the element's role as observe lists it";
    AmbiguousOption "M209" Marks false "more than one option has this label", "select_option" => "call select_option with the value of one option listed in page_content";
    UnknownOption "M210" Marks false "the element has no such option", "select_option" => "call select_option with one of the options listed in page_content";
    NoKnownFocus "M211" Marks false "what has the focus is not a marked element of this snapshot", "press_key" => "call press_key with a mark";

    OffList "S301" Site false "this site is not on the operator's list", "status" => "call status for the listed sites; only the operator can add one";
    AddressRefused "S302" Site false "this address is not one that may be opened", "" => "use a plain https address of a listed site";
    FrameOffList "S303" Site false "the element's frame, or one around it, is not on the operator's list", "status" => "call status for the listed sites; only the operator can add one";
    OpaqueOrigin "S304" Site false "the element's document has no origin of its own, so it cannot be acted on", "observe" => "call observe and choose an element outside that frame";
    TierNotGranted "S305" Site false "the operator's list allows less than this on this site", "status" => "call status to see what each site allows";
    DepartureStopped "S306" Site false "the page tried to leave for a site that is not on the operator's list, and was stopped", "observe" => "call observe: the tab stayed where it was";
    NoSuchStep "S308" Site false "the tab's history has no such step", "navigate" => "call navigate with an address of a listed site";
    NothingThere "S307" Site false "the tab shows no page that may be read", "navigate" => "call navigate with an address of a listed site";

    Denied "L401" Lock false "the person refused this action", "" => "do not try again; ask the person in the conversation what they want";
    TimedOut "L402" Lock false "nobody answered the question, so it counts as refused", "" => "tell the person that a window will ask them, and call again when they are ready";
    Cancelled "L403" Lock false "the question was withdrawn before it was answered", "" => "call again when the person is ready to answer";
    Undeliverable "L404" Lock false "no window could be shown to the person, so the action is refused", "status" => "call status; the operator can run countersign doctor";
    WindowFailed "L405" Lock false "the window ended without an answer, so the action is refused", "" => "tell the person; call again only if they ask for it";
    ChangedWhileAsking "L406" Lock false "the page changed between the question and the answer, so the answer is void", "observe" => "call observe and look at the element again before acting";
    TooManyWindows "L407" Lock false "too many questions were left unanswered or refused", "" => "stop asking; tell the person what is left to do";
    ClassRefused "L408" Lock false "the person refused this kind of action twice, so it stays refused", "" => "do not try again in this session";
    AnotherQuestion "L409" Lock true "another question is open", "" => "wait until it is answered, then call again";
    ForeignPeer "L410" Lock false "another program is connected to the browser's port, so nothing locked is done", "status" => "call status; the operator can look at it with countersign doctor";

    Misdirected "G501" Gesture false "the press would have landed on something else and was stopped", "observe" => "call observe; the page is moving, so look again before acting";
    GuardNotLive "G502" Gesture false "a frame that cannot be guarded lies at this point", "observe" => "call observe and choose an element away from that frame";
    StillMoving "G503" Gesture true "the element kept moving", "observe" => "wait until the page rests, then call observe";
    FocusLost "G504" Gesture false "the focus went elsewhere, so typing stopped", "observe" => "call observe to see what the field holds now";
    DialogOpen "G505" Gesture false "the page shows a dialog, which stops everything else in its tab", "status" => "the dialog was dismissed; call status, then observe";
    NotKept "G506" Gesture false "the field did not keep what was entered", "observe" => "call observe to see what the field holds now";
    GestureInterrupted "G507" Gesture false "the connection was lost during the gesture; it may or may not have had an effect", "observe" => "call observe and check before doing anything again";

    CaptureFailed "C601" Capture true "no picture of the page could be taken", "observe" => "call observe again, with image false if only the text is needed";

    JournalNotWritable "J701" Journal false "the journal cannot be written, so nothing is done", "status" => "call status; the operator can run countersign doctor";
    JournalEnded "J702" Journal false "the journal failed in this session, so no further action is taken", "" => "stop here; the operator can run countersign doctor and start a new session";

    BrowserAbsent "B901" Browser true "the operator's browser is not running", "status" => "ask the person to run countersign browser, then call status";
    PortStale "B902" Browser true "the browser's port file is left over from a browser that has ended", "status" => "ask the person to run countersign browser, then call status";
    WrongOwner "B903" Browser false "what listens on the browser's port is not the operator's browser", "" => "stop; ask the operator to run countersign doctor";
    WrongProfile "B904" Browser false "the browser on that port runs on another profile directory", "" => "stop; ask the operator to run countersign doctor";
    UnsafeFlags "B905" Browser false "the browser was started with a flag that removes its protection", "" => "stop; ask the operator to start it with countersign browser";
    ConnectionLost "B906" Browser true "the connection to the browser was lost; marks of before are void", "observe" => "call list_tabs, then observe";
    NoAnswer "B907" Browser true "the tab did not answer in time", "list_tabs" => "call list_tabs; close the tab if it stays silent";
    TabCrashed "B908" Browser false "the tab has crashed", "close_tab" => "close it with close_tab and open the page again";
    TabClosed "B909" Browser false "the tab was closed", "list_tabs" => "call list_tabs";
    LoadFailed "B910" Browser true "the page could not be loaded", "navigate" => "check the address; call navigate again later";
    ProfileUnsafe "B911" Browser false "the browser's profile directory is not the operator's alone", "" => "stop; ask the operator to run countersign doctor";

    Internal "X999" Internal false "something failed inside countersign", "status" => "call status; tell the person that countersign needs a look";
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_number_twice_and_each_in_its_family() {
        let mut seen = HashSet::new();
        for code in Code::ALL {
            assert!(seen.insert(code.as_str()), "{code} is used twice");
            let letter = match code.family() {
                Family::Admission => 'A',
                Family::Marks => 'M',
                Family::Site => 'S',
                Family::Lock => 'L',
                Family::Gesture => 'G',
                Family::Capture => 'C',
                Family::Journal => 'J',
                Family::Policy => 'P',
                Family::Browser => 'B',
                Family::Internal => 'X',
            };
            assert!(code.as_str().starts_with(letter), "{code}");
        }
    }

    #[test]
    fn a_suggestion_names_the_tool_it_says_it_names() {
        for code in Code::ALL {
            assert!(!code.suggestion().is_empty());
            assert!(code.suggestion().contains(code.suggested_tool()), "{code}");
        }
    }

    /// docs/codes.md is generated from the table and compared.
    #[test]
    fn generated_codes_page_is_current() {
        let mut want = String::from(
            "# Codes\n\nGenerated from `src/error/codes.rs`; `make docs` writes it anew. Numbers are never reused.\n\n\
             | code | what happened | what to do | again as it is? |\n|---|---|---|---|\n",
        );
        for code in Code::ALL {
            let again = if code.retryable() { "yes" } else { "no" };
            want.push_str(&format!(
                "| {code} | {} | {} | {again} |\n",
                code.message(),
                code.suggestion()
            ));
        }
        let path = crate::error::tree().join("docs/codes.md");
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(&path, &want).unwrap();
        }
        assert!(
            std::fs::read_to_string(&path).unwrap_or_default() == want,
            "docs/codes.md is out of date: run make docs"
        );
    }
}
