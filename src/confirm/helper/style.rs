//! Sizes and colours: sizes are ours and fixed, colours are the desktop theme's, light or dark.

use gtk4::prelude::*;
use gtk4::{CssProvider, Settings, gdk, gio};

// Line heights are absolute, so that no script or stack of marks makes a line taller; what rises over it is clipped.
const SHEET: &str = "
window.countersign { font-size: 14px; }
.countersign .body { padding: 14px 22px 14px 22px; }
.countersign .class { font-size: 12px; font-weight: 700; line-height: 16px; letter-spacing: 0.6px; padding: 2px 9px;
  border-radius: 9px; background-color: alpha(currentColor, 0.10); }
.countersign .headline { font-size: 18px; font-weight: 700; line-height: 24px; }
.countersign .site { padding: 6px 12px; border-radius: 8px; background-color: alpha(currentColor, 0.06); }
.countersign .host { font-family: monospace; font-size: 15px; line-height: 20px; }
.countersign .note { font-size: 13px; font-weight: 600; line-height: 18px; }
.countersign .name { font-size: 13px; line-height: 19px; opacity: 0.75; }
.countersign .value { line-height: 19px; }
.countersign .critical { font-weight: 600; }
.countersign .details { font-size: 13px; border-radius: 8px; border: 1px solid alpha(currentColor, 0.15); }
.countersign .details > viewport > grid { padding: 2px 11px; }
.countersign scrollbar.vertical slider { min-height: 10px; }
.countersign .model { padding-left: 11px; border-left: 3px solid alpha(currentColor, 0.25); }
.countersign .quiet { font-size: 13px; line-height: 18px; opacity: 0.75; }
.countersign button.answer { min-width: 100px; min-height: 24px; padding: 4px 10px; font-size: 14px; font-weight: 600; }
.countersign button.answer:focus { outline: 2px solid @theme_selected_bg_color; outline-offset: 1px; }
.countersign .answers entry { min-height: 26px; }
";

/// Loads the sheet and follows the desktop's choice of light or dark.
pub(crate) fn load(display: &gdk::Display) {
    let provider = CssProvider::new();
    provider.load_from_data(SHEET);
    // Above the person's own sheet: a theme must not move or hide what is asked.
    let priority = gtk4::STYLE_PROVIDER_PRIORITY_USER + 1;
    gtk4::style_context_add_provider_for_display(display, &provider, priority);
    if let Some(settings) = Settings::default()
        && desktop_is_dark()
    {
        settings.set_gtk_application_prefer_dark_theme(true);
    }
}

/// GNOME's and its relatives' setting. Where a desktop sets the toolkit's own theme instead, that is followed anyway.
fn desktop_is_dark() -> bool {
    const SCHEMA: &str = "org.gnome.desktop.interface";
    const KEY: &str = "color-scheme";
    let known = gio::SettingsSchemaSource::default()
        .and_then(|source| source.lookup(SCHEMA, true))
        .is_some_and(|schema| schema.has_key(KEY));
    known && gio::Settings::new(SCHEMA).string(KEY) == "prefer-dark"
}
