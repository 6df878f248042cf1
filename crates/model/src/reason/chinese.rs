//! The words of a reason in Chinese. English is with the types themselves; both say the same of each.

use std::collections::BTreeMap;

use super::Reason;
use crate::limits;
use crate::no_node::{Away, NoNode, NodeFilter, Unavailable};
use crate::shortage::Shortage;

pub(super) fn message(reason: &Reason) -> String {
    match reason {
        Reason::BeginTime { until } => format!("{until} 之前不开始"),
        Reason::Backoff { until, next_attempt, attempts_max } => {
            format!("第 {next_attempt} 次尝试（共 {attempts_max} 次）将于 {until} 开始")
        }
        Reason::Concurrency { key, running, limit } => {
            format!("并发上限 {limit}{}，正在运行 {running} 个", of_key(key))
        }
        Reason::RateLimit { key, limit, until } => {
            format!("速率上限 {limit}{}已用完，下一个可于 {until} 开始", of_key(key))
        }
        Reason::Resources { matching, shortage } => no_room(*matching, shortage),
        Reason::NoNode(no_node) => no_node_message(no_node),
        Reason::Suspect { losses, nodes, node } => {
            let place = match node {
                Some(node) => node.to_string(),
                None => format!("{nodes} 个节点之一"),
            };
            let lost = times(*losses);
            format!(
                "它的作业{lost}随节点一起丢失；要等 {place} 上没有其他同样丢失过的作业，以便下次丢失时分清是谁造成的"
            )
        }
        Reason::Priority { position } if *position >= limits::QUEUE_PLACES_TOLD => {
            format!("在同类队列中排第 {position} 位或更后")
        }
        Reason::Priority { position } => format!("在同类队列中排第 {position} 位"),
        Reason::Paused { by, note } if note.is_empty() => format!("作业被 {by} 暂停"),
        Reason::Paused { by, note } => format!("作业被 {by} 暂停：{note}"),
        Reason::CellPaused { by, note } if note.is_empty() => format!("单元被 {by} 暂停"),
        Reason::CellPaused { by, note } => format!("单元被 {by} 暂停：{note}"),
        Reason::Quarantined { losses } => format!("作业已隔离：{}随节点一起丢失", times(*losses)),
        Reason::Overflow => "等待的运行多于内存所能容纳".into(),
    }
}

pub(super) fn remedy(reason: &Reason) -> String {
    match reason {
        Reason::BeginTime { until } => format!("无需处理：{until} 自动排队"),
        Reason::Backoff { until, .. } => format!("{until} 自动重试；`mainspring retry RUN` 可跳过等待"),
        Reason::Concurrency { .. } => "等待其中一个结束，或调高 `concurrency.limit`".into(),
        Reason::RateLimit { until, .. } => {
            format!("无需处理：下一个于 {until} 开始；需要更多时调高 `rate_limit`")
        }
        Reason::Resources { shortage, .. } if &*shortage.dimension == "slots" => {
            "等待这些节点上的运行结束，或增加节点".into()
        }
        Reason::Resources { shortage, .. } => {
            format!("等待这些节点上的运行结束，增加节点，或减少所需的{}", noun(shortage))
        }
        Reason::NoNode(no_node) => no_node_remedy(no_node),
        Reason::Suspect { .. } => "无需处理：那个作业自行结束后即开始；再加一个节点可立即开始".into(),
        Reason::Priority { .. } => "等待轮到它，增加节点，或以更高的 `priority` 重新提交".into(),
        Reason::Paused { .. } => "用 `mainspring resume JOB` 恢复作业".into(),
        Reason::CellPaused { .. } => "用 `mainspring resume --cell CELL` 恢复单元".into(),
        Reason::Quarantined { .. } => "查明它为何拖垮节点，再用 `mainspring retry RUN` 让它继续".into(),
        Reason::Overflow => "无需处理：排在前面的开始后会读入它".into(),
    }
}

fn no_node_message(no_node: &NoNode) -> String {
    let NoNode { nodes, pool, filter } = no_node;
    match filter {
        NodeFilter::Pool { others } => format!("节点池 `{pool}` 中没有节点；{}", other_pools(others)),
        NodeFilter::Name { names } => {
            format!("节点池 `{pool}`（{nodes} 个节点）中没有名为 {} 的节点", names.join(" 或 "))
        }
        NodeFilter::Selector { selector } => {
            format!("节点池 `{pool}`（{nodes} 个节点）中没有节点符合 `{selector}`")
        }
        NodeFilter::Handler { handler } => format!("{}都不提供处理函数 `{handler}`", that_match(*nodes)),
        NodeFilter::Capacity(shortage) => too_small(shortage, *nodes),
        NodeFilter::Available(unavailable) => unavailable_message(unavailable, *nodes),
    }
}

fn no_node_remedy(no_node: &NoNode) -> String {
    let pool = &no_node.pool;
    match &no_node.filter {
        NodeFilter::Pool { .. } => format!("向节点池 `{pool}` 增加节点，或在 `placement.pool` 中改用其他池"),
        NodeFilter::Name { .. } => {
            format!("向节点池 `{pool}` 增加该名称的节点，或在 `dispatch.balancer` 中改用其他名称")
        }
        NodeFilter::Selector { .. } => {
            format!(
                "用 `mainspring node label` 为节点池 `{pool}` 的节点加上标签，或放宽 `placement.selector`"
            )
        }
        NodeFilter::Handler { handler } => format!("在节点池 `{pool}` 中启动注册了 `{handler}` 的工作进程"),
        NodeFilter::Capacity(shortage) => {
            format!("向节点池 `{pool}` 增加更大的节点，或在 `resources` 中减少所需的{}", noun(shortage))
        }
        NodeFilter::Available(unavailable) => unavailable_remedy(unavailable, pool),
    }
}

fn unavailable_message(unavailable: &Unavailable, nodes: u32) -> String {
    let Unavailable { away, node, bound } = unavailable;
    match (node, away.first_key_value()) {
        (Some(node), Some((away, _))) if *bound => format!("它必须使用的节点 {node} {}", state(*away)),
        (Some(node), Some((away, _))) => format!("唯一符合条件的节点 {node} {}", state(*away)),
        (None, Some((away, count))) if *count == nodes => {
            format!("{}全部{}", that_match(nodes), state(*away))
        }
        _ => {
            let states: Vec<String> =
                away.iter().map(|(away, count)| format!("{count} 个{}", state(*away))).collect();
            format!("{}都不接收它：{}", that_match(nodes), states.join("，"))
        }
    }
}

fn unavailable_remedy(unavailable: &Unavailable, pool: &str) -> String {
    let node = |away: Away| match &unavailable.node {
        Some(node) => node.to_string(),
        None => format!("一个{}的节点", state(away)),
    };
    let step = |away: Away| match away {
        Away::Lost => format!("使 {} 恢复", node(away)),
        Away::Silent => format!("等待 {} 恢复心跳", node(away)),
        Away::Draining => match &unavailable.node {
            Some(node) => format!("用 `mainspring node resume {node}` 恢复它"),
            None => "用 `mainspring node resume NODE` 恢复一个正在排空的节点".to_owned(),
        },
        Away::Leaving | Away::Left => format!("重新启动 {} 的代理", node(away)),
        Away::Overbooked => format!("等待 {} 上足够多的运行结束", node(away)),
        Away::Failed => "设置 `retry.node: other_unless_only_one`".to_owned(),
        Away::Unwell => format!("等待 {} 的边车被替换，或查看其代理的日志", node(away)),
    };
    let mut steps: Vec<String> = unavailable.away.keys().map(|away| step(*away)).collect();
    if !unavailable.bound {
        steps.push(format!("向节点池 `{pool}` 增加节点"));
    }
    steps.join("，或")
}

fn state(away: Away) -> &'static str {
    match away {
        Away::Lost => "已失联",
        Away::Silent => "没有心跳",
        Away::Draining => "正在排空",
        Away::Leaving => "因代理即将退出而排空",
        Away::Left => "已离开",
        Away::Overbooked => "占用超出容量",
        Away::Failed => "此前运行它失败",
        Away::Unwell => "因边车没有应答而不接收任务",
    }
}

fn too_small(shortage: &Shortage, nodes: u32) -> String {
    let (wanted, nodes_text) = (wanted(shortage), that_match(nodes));
    match shortage.seen {
        Some(seen) if seen.nodes < nodes => format!(
            "需要 {wanted}；{nodes_text}中有 {} 个最多只有 {}，其余的缺少其他资源",
            seen.nodes,
            shortage.bare(seen.most)
        ),
        Some(seen) if seen.most == 0 => format!("需要 {wanted}；{nodes_text}都没有"),
        Some(seen) => format!("需要 {wanted}；{nodes_text}中最大的只有 {}", shortage.bare(seen.most)),
        None => format!("需要 {wanted}；{nodes_text}都没有这么多"),
    }
}

fn no_room(matching: u32, shortage: &Shortage) -> String {
    let nodes = that_match(matching);
    let some = shortage.seen.filter(|seen| seen.nodes < matching);
    if &*shortage.dimension == "slots" {
        return match some {
            Some(seen) => format!("{nodes}中有 {} 个没有空闲槽位，其余的缺少其他资源", seen.nodes),
            None => format!("{nodes}都没有空闲槽位"),
        };
    }
    let wanted = wanted(shortage);
    match shortage.seen {
        Some(seen) if some.is_some() => format!(
            "需要 {wanted}；{nodes}中有 {} 个最多空闲 {}，其余的缺少其他资源",
            seen.nodes,
            shortage.bare(seen.most)
        ),
        Some(seen) if seen.most == 0 => format!("需要 {wanted}；{nodes}都没有空闲"),
        Some(seen) => format!("需要 {wanted}；{nodes}最多空闲 {}", shortage.bare(seen.most)),
        None => format!("需要 {wanted}；{nodes}都没有这么多空闲"),
    }
}

fn other_pools(others: &BTreeMap<Box<str>, u32>) -> String {
    if others.is_empty() {
        return "其他池也没有节点".to_owned();
    }
    let pools: Vec<String> = others.iter().map(|(pool, nodes)| format!("{pool}（{nodes}）")).collect();
    let more = if others.len() >= limits::POOLS_TOLD { "……" } else { "" };
    format!("有节点的池：{}{more}", pools.join("、"))
}

fn wanted(shortage: &Shortage) -> String {
    format!("{} {}", shortage.bare(shortage.wanted), noun(shortage).trim_start())
}

/// What is lacking; a word that is not Chinese stands apart.
fn noun(shortage: &Shortage) -> String {
    match &*shortage.dimension {
        "slots" => "槽位".to_owned(),
        "memory" => "内存".to_owned(),
        _ => format!(" {}", shortage.noun()),
    }
}

fn that_match(nodes: u32) -> String {
    format!("符合条件的 {nodes} 个节点")
}

fn of_key(key: &str) -> String {
    if key.is_empty() { String::new() } else { format!("（键 `{key}`）") }
}

fn times(count: u32) -> String {
    if count == 1 { "上次".to_owned() } else { format!("连续 {count} 次") }
}
