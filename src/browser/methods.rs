//! The closed list of DevTools methods: nothing else reaches the wire (security D5).
//!
//! Three classes: what observes, what acts and what protects. The acting ones live in [`super::input`], which only the
//! gesture room imports. docs/cdp-methods.md is generated from these tables.

use serde::Serialize;
use serde_json::Value;

use super::script::Arguments;

/// Something that can be put on the wire: a variant of one of the three closed enums.
pub(in crate::browser) trait Method: Serialize + Send + Sync {}

macro_rules! methods {
    ($(#[$doc:meta])* $vis:vis enum $class:ident {
        $( $(#[$row:meta])* $variant:ident = $name:literal { $($field:ident : $type:ty),* $(,)? } )*
    }) => {
        $(#[$doc])*
        #[derive(Debug, serde::Serialize)]
        #[serde(tag = "method", content = "params")]
        $vis enum $class<'a> {
            $(
                $(#[$row])*
                #[serde(rename = $name, rename_all = "camelCase")]
                $variant { $(#[allow(missing_docs, reason = "named by the protocol")] $field: $type),* },
            )*
            #[doc(hidden)]
            #[serde(skip)]
            #[allow(dead_code, reason = "ties the lifetime where no variant borrows")]
            Never(std::convert::Infallible, std::marker::PhantomData<&'a ()>),
        }

        impl $class<'_> {
            /// The protocol's names of this class.
            $vis const NAMES: &'static [&'static str] = &[$($name),*];
        }

        impl $crate::browser::methods::Method for $class<'_> {}
    };
}
pub(in crate::browser) use methods;

methods! {
    /// What looks, listens, attaches or lets go on: none of these changes a page.
    pub(in crate::browser) enum Observe {
        /// Attach to every new target, paused, before its first request (security U6).
        AutoAttach = "Target.setAutoAttach" { auto_attach: bool, wait_for_debugger_on_start: bool, flatten: bool, filter: Value }
        /// Let go of a target that is not ours.
        Detach = "Target.detachFromTarget" { session_id: &'a str }
        /// Let a paused target run.
        RunIfWaiting = "Runtime.runIfWaitingForDebugger" {}
        /// The address of a new target that a page of ours may have opened.
        TargetInfo = "Target.getTargetInfo" { target_id: &'a str }
        /// Page events.
        PageEnable = "Page.enable" {}
        /// Execution contexts.
        RuntimeEnable = "Runtime.enable" {}
        /// Nodes by number.
        DomEnable = "DOM.enable" {}
        /// Crashes.
        InspectorEnable = "Inspector.enable" {}
        /// Loads, frame by frame.
        LifecycleEvents = "Page.setLifecycleEventsEnabled" { enabled: bool }
        /// The library of the isolated world, before the page's first script.
        InstallWorld = "Page.addScriptToEvaluateOnNewDocument" { source: &'static str, world_name: &'static str, run_immediately: bool }
        /// A function of the isolated world that tells us something.
        AddBinding = "Runtime.addBinding" { name: &'static str, execution_context_name: &'static str }
        /// Hold documents at request stage (security U5).
        FetchEnable = "Fetch.enable" { patterns: Value }
        /// Hold them no longer.
        FetchDisable = "Fetch.disable" {}
        /// Let a held request go on unchanged.
        FetchContinue = "Fetch.continueRequest" { request_id: &'a str }
        /// Let a page behave as if its window had the focus, also in the background.
        FocusEmulation = "Emulation.setFocusEmulationEnabled" { enabled: bool }
        /// Keeps a background tab drawing: without it captures hang.
        StartScreencast = "Page.startScreencast" { format: &'static str, quality: u32, max_width: u32, max_height: u32, every_nth_frame: u32 }
        /// Asks for the next frame of it.
        ScreencastAck = "Page.screencastFrameAck" { session_id: i64 }
        /// The picture.
        Screenshot = "Page.captureScreenshot" { format: &'static str, optimize_for_speed: bool, capture_beyond_viewport: bool }
        /// The history, for back and forward.
        History = "Page.getNavigationHistory" {}
        /// A node's own number, its shadow roots, and the frame an element holds.
        DescribeNode = "DOM.describeNode" { object_id: &'a str, depth: i32 }
        /// The element that holds a frame, by the frame's name.
        FrameOwner = "DOM.getFrameOwner" { frame_id: &'a str }
        /// A node as an object of one isolated world.
        ResolveNode = "DOM.resolveNode" { backend_node_id: i64, execution_context_id: i64, object_group: &'static str }
        /// Role and name as assistive technology is told them.
        PartialTree = "Accessibility.getPartialAXTree" { object_id: &'a str, fetch_relatives: bool }
        /// How many nodes the page's process holds: a shadow root that is attached is one more.
        NodeCount = "Memory.getDOMCounters" {}
        /// A constant function of [`super::script`] on an object or in a world.
        CallFunction = "Runtime.callFunctionOn" {
            function_declaration: &'static str, object_id: Option<&'a str>, unique_context_id: Option<&'a str>,
            arguments: Arguments<'a>, return_by_value: bool, await_promise: bool, object_group: &'static str, silent: bool,
        }
        /// The members of a returned list.
        Properties = "Runtime.getProperties" { object_id: &'a str, own_properties: bool }
        /// Drop the objects of one look.
        ReleaseGroup = "Runtime.releaseObjectGroup" { object_group: &'static str }
    }
}

methods! {
    /// What can only reduce: refuse, dismiss, stop, close our own.
    pub(in crate::browser) enum Protect {
        /// Refuse a held request.
        FetchFail = "Fetch.failRequest" { request_id: &'a str, error_reason: &'static str }
        /// Dismiss a page's dialog; `accept` is always false here.
        DismissDialog = "Page.handleJavaScriptDialog" { accept: bool }
        /// Close a tab of the session.
        CloseTarget = "Target.closeTarget" { target_id: &'a str }
        /// Stop a download that a tab of the session began.
        CancelDownload = "Browser.cancelDownload" { guid: &'a str }
        /// Keep the native file chooser shut.
        InterceptFileChooser = "Page.setInterceptFileChooserDialog" { enabled: bool }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_serialises_as_the_protocol_spells_it() {
        let call = Observe::DescribeNode {
            object_id: "1.2.3",
            depth: 0,
        };
        assert_eq!(
            serde_json::to_value(&call).unwrap(),
            serde_json::json!({"method": "DOM.describeNode", "params": {"objectId": "1.2.3", "depth": 0}})
        );
    }

    #[test]
    fn the_classes_share_no_method() {
        let acting = crate::browser::input::ACTING;
        for name in Observe::NAMES {
            assert!(
                !Protect::NAMES.contains(name) && !acting.contains(name),
                "{name}"
            );
        }
        for never in [
            "Runtime.evaluate",
            "Network.getCookies",
            "Storage.getCookies",
            "Page.setDownloadBehavior",
            "Network.getResponseBody",
        ] {
            assert!(
                ![Observe::NAMES, Protect::NAMES, acting]
                    .concat()
                    .contains(&never),
                "{never}"
            );
        }
    }

    /// docs/cdp-methods.md is generated from the three tables and compared.
    #[test]
    fn generated_methods_page_is_current() {
        let mut want = String::from(
            "# DevTools methods\n\nThe closed list: nothing else reaches the wire. Generated from `src/browser/methods.rs` and \
             `src/browser/input.rs`; `make docs` writes it anew.\n",
        );
        let classes = [
            ("Observing", Observe::NAMES),
            ("Protecting (can only reduce)", Protect::NAMES),
            ("Acting (the gesture alone)", crate::browser::input::ACTING),
        ];
        for (class, names) in classes {
            want.push_str(&format!("\n## {class}\n\n"));
            for name in names {
                want.push_str(&format!("- `{name}`\n"));
            }
        }
        let path = crate::error::tree().join("docs/cdp-methods.md");
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(&path, &want).unwrap();
        }
        assert!(
            std::fs::read_to_string(&path).unwrap_or_default() == want,
            "docs/cdp-methods.md is out of date: run make docs"
        );
    }
}
