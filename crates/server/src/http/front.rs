//! The page at `/` of a program that was built without the web console, where the link of `mainspring up` leads: it exchanges the login code, which never leaves the browser but
//! to us, for a session. One file without anything from elsewhere, in the language that the browser asks for.

use std::fmt::Write as _;
use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{Html, IntoResponse, Response};

use super::edge::Edge;

const PAGE: &str = include_str!("front.html");

/// The words of the page in one language. They stand in a script, too: no quotes, no backslashes.
struct Words {
    lang: &'static str,
    hint: &'static str,
    console: &'static str,
    manual: &'static str,
    script: &'static str,
    signing_in: &'static str,
    signed_in: &'static str,
    failed: &'static str,
}

const ENGLISH: Words = Words {
    lang: "en",
    hint: "To sign in, open the link that mainspring up printed.",
    console: "This program was built without the web console. In a checkout, cargo xtask up builds both and starts them.",
    manual: "The API",
    script: "Signing in needs JavaScript.",
    signing_in: "Signing in…",
    signed_in: "Signed in as ",
    failed: "The link is used up or too old. The next mainspring up prints another.",
};

const CHINESE: Words = Words {
    lang: "zh",
    hint: "请打开 mainspring up 打印的链接登录。",
    console: "此程序未包含网页控制台。在代码目录中运行 cargo xtask up 会构建并启动两者。",
    manual: "API 文档",
    script: "登录需要启用 JavaScript。",
    signing_in: "正在登录…",
    signed_in: "已登录：",
    failed: "链接已使用或已过期。再次运行 mainspring up 会打印新链接。",
};

/// The page.
pub(crate) async fn page(State(edge): State<Arc<Edge>>, headers: HeaderMap) -> Response {
    let mut nonce = String::with_capacity(32);
    for _ in 0..2 {
        // Writing to a string does not fail.
        let _ = write!(nonce, "{:016x}", edge.app.random().request_id());
    }
    let asked = headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
    let words = words(asked.unwrap_or_default());
    let policy = format!(
        "default-src 'none'; connect-src 'self'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'"
    );
    let mut response = Html(words.render(&nonce)).into_response();
    let headers = response.headers_mut();
    headers
        .extend(HeaderValue::try_from(policy).ok().map(|policy| (header::CONTENT_SECURITY_POLICY, policy)));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::VARY, HeaderValue::from_static("accept-language"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

impl Words {
    fn render(&self, nonce: &str) -> String {
        let values = [
            ("{{lang}}", self.lang),
            ("{{nonce}}", nonce),
            ("{{hint}}", self.hint),
            ("{{console}}", self.console),
            ("{{manual}}", self.manual),
            ("{{script}}", self.script),
            ("{{signing_in}}", self.signing_in),
            ("{{signed_in}}", self.signed_in),
            ("{{failed}}", self.failed),
        ];
        values.into_iter().fold(PAGE.to_owned(), |page, (name, value)| page.replace(name, value))
    }
}

/// The first language of the list that we speak; browsers send their favourite first.
fn words(asked: &str) -> &'static Words {
    let languages = asked.split(',').filter_map(|part| part.split([';', '-']).next());
    let known = languages.map(|language| language.trim().to_ascii_lowercase());
    let spoken = known.into_iter().find_map(|language| match language.as_str() {
        "en" => Some(&ENGLISH),
        "zh" => Some(&CHINESE),
        _ => None,
    });
    spoken.unwrap_or(&ENGLISH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_language_that_we_speak() {
        for (asked, lang) in [
            ("", "en"),
            ("zh-CN,zh;q=0.9,en;q=0.8", "zh"),
            ("en-GB,zh;q=0.5", "en"),
            ("de, ZH-Hant;q=0.7", "zh"),
            ("fr", "en"),
        ] {
            assert_eq!(words(asked).lang, lang, "{asked}");
        }
    }

    #[test]
    fn the_page_is_whole() {
        for words in [&ENGLISH, &CHINESE] {
            let page = words.render("n0nce");
            assert!(!page.contains("{{"), "{page}");
            assert_eq!(page.matches("nonce=\"n0nce\"").count(), 2);
            for text in [words.signing_in, words.signed_in, words.failed] {
                assert!(!text.contains(['"', '\\', '<']), "{text} stands in a script");
            }
        }
    }
}
