//! The apps of the command line: `--app URI=FILE` and `--link TOOL=URI`.

use std::path::PathBuf;
use std::str::FromStr;

use tower::BoxError;
use tower_mcp_apps::AppsLayer;
use tower_mcp_apps::protocol::{UI_SCHEME, UiUri};
use tower_mcp_apps::serve::App;

/// A file that is served under a URI.
#[derive(Clone, Debug)]
pub(crate) struct AppFile {
    uri: UiUri,
    path: PathBuf,
}

/// A tool that is linked to an app.
#[derive(Clone, Debug)]
pub(crate) struct ToolLink {
    tool: String,
    uri: UiUri,
}

impl FromStr for AppFile {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (uri, path) = text.split_once('=').ok_or("URI=FILE is expected")?;
        let uri = uri.parse().map_err(|error| format!("{error}"))?;
        Ok(Self { uri, path: path.into() })
    }
}

impl FromStr for ToolLink {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // The name of a tool may have an equals sign.
        let at = text.find(&format!("={UI_SCHEME}")).ok_or("TOOL=ui://… is expected")?;
        let uri = text[at + 1..].parse().map_err(|error| format!("{error}"))?;
        Ok(Self { tool: text[..at].to_owned(), uri })
    }
}

/// Registers the apps with their links.
pub(crate) fn register(mut layer: AppsLayer, files: &[AppFile], links: &[ToolLink]) -> Result<AppsLayer, BoxError> {
    if let Some(link) = links.iter().find(|link| files.iter().all(|file| file.uri != link.uri)) {
        return Err(format!("--link {}={}: there is no --app with this URI", link.tool, link.uri).into());
    }
    for file in files {
        let app = App::from_file(file.uri.clone(), &file.path)?;
        let tools = links.iter().filter(|link| link.uri == file.uri);
        layer = layer.app(tools.fold(app, |app, link| app.link(link.tool.as_str())));
    }
    Ok(layer)
}
