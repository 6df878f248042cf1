//! The words of a cause in Chinese. English is its [`std::fmt::Display`]; both say the same.

use super::{Cause, TimeoutKind};

pub(super) fn message(cause: &Cause) -> String {
    match cause {
        Cause::Exit { code } => format!("退出码 {code}"),
        Cause::Signal { signal } => format!("被信号 {signal} 终止"),
        Cause::Oom => "内存不足".into(),
        Cause::Timeout { limit } => timeout(*limit).into(),
        Cause::Lost { node } => format!("{node} 失联"),
        Cause::Vanished { node } => format!("{node} 未看到该次尝试如何结束"),
        Cause::Refused { message } => format!("节点拒绝执行：{message}"),
        Cause::StartFailed { message } => format!("无法启动：{message}"),
        Cause::Error { class, message } => format!("{class}：{message}"),
        Cause::Drained { node } => format!("{node} 已排空"),
        Cause::Cancelled { by } => format!("由 {by} 取消"),
        Cause::Overlap => "重叠策略".into(),
        Cause::Quarantined { losses } => format!("作业随 {losses} 个节点失联后被隔离"),
    }
}

const fn timeout(limit: TimeoutKind) -> &'static str {
    match limit {
        TimeoutKind::Queue => "排队超时",
        TimeoutKind::Start => "启动超时",
        TimeoutKind::Run => "运行超时",
        TimeoutKind::Heartbeat => "心跳超时",
        TimeoutKind::Total => "总时长超时",
    }
}
