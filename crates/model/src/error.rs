//! The closed list of errors that callers see: snake_case on the wire, with who is to blame and whether
//! trying again can help. Status codes live at the edge; internal causes live in the log.

use std::fmt;

/// Who can mend it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blame {
    /// The caller: the request itself is wrong or comes at the wrong time.
    Caller,
    /// The program.
    Us,
    /// Something that the program needs: a store, the network.
    Dependency,
}

/// Whether trying again can help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    /// The same request gives the same answer.
    Never,
    /// Read the thing again, decide anew, then ask.
    AfterRefresh,
    /// The same request may succeed later; use an idempotency key.
    Later,
}

macro_rules! error_codes {
    ($($variant:ident, $name:literal, $blame:ident, $retry:ident, $help:literal, $help_zh:literal;)*) => {
        /// What went wrong, for programs.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum ErrorCode { $(#[doc = $help] $variant,)* }

        impl ErrorCode {
            /// Every code.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The code on the wire.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
            /// Who can mend it.
            pub const fn blame(self) -> Blame {
                match self { $(Self::$variant => Blame::$blame,)* }
            }
            /// Whether trying again can help.
            pub const fn retry(self) -> Retry {
                match self { $(Self::$variant => Retry::$retry,)* }
            }
            /// One sentence for people: what it means and the next step.
            pub const fn help(self) -> &'static str {
                match self { $(Self::$variant => $help,)* }
            }
            /// The sentence in Chinese.
            pub const fn help_zh(self) -> &'static str {
                match self { $(Self::$variant => $help_zh,)* }
            }
        }
    };
}

error_codes! {
    InvalidSpec, "invalid_spec", Caller, Never, "The job's specification has problems; each is listed with its path and a hint.",
        "作业定义有问题；每个问题都列出了路径和建议。";
    InvalidParameter, "invalid_parameter", Caller, Never, "A parameter is missing, unknown or of the wrong type; compare with the job's `parameters`.",
        "参数缺失、未知或类型不符；请与作业的 `parameters` 对照。";
    InvalidTemplate, "invalid_template", Caller, Never, "A key template could not be rendered with these parameters; check the names it uses.",
        "无法用这些参数渲染键模板；请检查其中的名称。";
    InvalidRequest, "invalid_request", Caller, Never, "The request cannot be read; each problem is listed with the field it is about.",
        "无法解析请求；每个问题都列出了相关字段。";
    InvalidQuery, "invalid_query", Caller, Never, "The query `q` cannot be read; the message names the position and what is expected there.",
        "无法解析查询 `q`；消息指出了位置和该处应写的内容。";
    Unauthenticated, "unauthenticated", Caller, Never, "No valid credential came with the request; send `Authorization: Bearer ms_…`, or sign in again.",
        "请求没有有效凭据；请发送 `Authorization: Bearer ms_…`，或重新登录。";
    Forbidden, "forbidden", Caller, Never, "Your role does not allow this here; the message names the role that does.",
        "你的角色在此不允许该操作；消息指出了所需角色。";
    TooLarge, "too_large", Caller, Never, "A value exceeds its limit; the message names the field and the limit.",
        "某个值超过上限；消息指出了字段和上限。";
    NotFound, "not_found", Caller, Never, "There is no such thing, or you may not see it.",
        "不存在，或你无权查看。";
    AlreadyExists, "already_exists", Caller, Never, "The name is taken; choose another or replace the existing one.",
        "名称已被占用；请换一个，或替换已有的。";
    Conflict, "conflict", Caller, AfterRefresh, "It changed since you read it; read it again and repeat the change.",
        "你读取之后它已被修改；请重新读取后再修改。";
    IllegalState, "illegal_state", Caller, AfterRefresh, "The run's state does not allow this; look at the run first.",
        "运行的状态不允许该操作；请先查看该运行。";
    Inactive, "inactive", Caller, AfterRefresh, "The trigger takes no calls now: it or its job is paused, or its time or its count is over; the message says which.",
        "触发器现在不接受调用：它或其作业已暂停，或时间、次数已到；消息说明了是哪一种。";
    PreconditionFailed, "precondition_failed", Caller, AfterRefresh, "`If-Match` or `If-None-Match` does not fit what is there now; read it again and repeat the change.",
        "`If-Match` 或 `If-None-Match` 与现状不符；请重新读取后再修改。";
    IdempotencyMismatch, "idempotency_mismatch", Caller, Never, "The idempotency key was used for another request; use a new key for a new run.",
        "该幂等键已用于另一个请求；新的运行请用新的键。";
    MethodNotAllowed, "method_not_allowed", Caller, Never, "The path exists but not with this method; `Allow` lists those it has.",
        "路径存在，但不支持该方法；`Allow` 列出了支持的方法。";
    UnsupportedMediaType, "unsupported_media_type", Caller, Never, "The body's content type is not read here; the message names those that are.",
        "此处不接受这种内容类型；消息列出了可接受的类型。";
    RateLimited, "rate_limited", Caller, Later, "Too many requests of this kind; wait as long as `Retry-After` says.",
        "此类请求过多；请按 `Retry-After` 等待。";
    StaleToken, "stale_token", Caller, Never, "Another attempt has taken over; stop working and drop the result.",
        "另一次尝试已接管；请停止工作并丢弃结果。";
    NotOwner, "not_owner", Dependency, Later, "Nobody who owns the cell is reached at the moment, and nothing was done; try again.",
        "目前联系不上该单元的属主，未做任何更改；请重试。";
    QueueFull, "queue_full", Dependency, Later, "The scheduler takes no more for now; wait and try again.",
        "调度器暂不接收更多请求；请稍后重试。";
    StoreUnavailable, "store_unavailable", Dependency, Later, "The store, or who owns the cell, does not answer: it may be done or not; look, or try again with the same idempotency key.",
        "存储或单元的属主没有响应：操作可能已完成，也可能没有；请先查看，或用同一幂等键重试。";
    Internal, "internal", Us, Later, "A defect in the scheduler; the log has the details under the request's id.",
        "调度器出现缺陷；日志中可按请求 ID 查到详情。";
}

impl ErrorCode {
    /// The code with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|code| code.name() == name)
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_one_name_and_help() {
        for code in ErrorCode::ALL {
            assert_eq!(ErrorCode::parse(code.name()), Some(*code));
            assert!(code.name().bytes().all(|b| b.is_ascii_lowercase() || b == b'_'), "{code}");
            assert!(code.help().ends_with('.'), "{code}");
            assert!(code.help_zh().ends_with('。'), "{code}");
            // What is code in one language is code in the other.
            for quoted in code.help().split('`').skip(1).step_by(2) {
                assert!(code.help_zh().contains(&format!("`{quoted}`")), "{code}: {quoted}");
            }
        }
    }
}
