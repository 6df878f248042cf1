//! Syntax of templates: text and expressions, no statements.
//!
//! Without statements each part of a template is evaluated at most once, so its length bounds the steps. Tokens are counted
//! before the parser sees them: the parser, and the tree it makes, are recursive.

use std::collections::BTreeSet;

use minijinja::machinery::ast::{BinOpKind, CallArg, Expr, Stmt};
use minijinja::machinery::{self, Token};
use minijinja::syntax::SyntaxConfig;

use super::{filter, words};
use crate::limits::{TEMPLATE_DEPTH_MAX, TEMPLATE_TOKENS_MAX, TEXT_BYTES_MAX};

/// A part of a template.
pub(super) enum Part<'a> {
    Raw(&'a str),
    Expression(&'a Expr<'a>),
}

/// The tree of a template that is within the limits. What its names are is not checked.
pub(super) fn parse(text: &str) -> Result<Stmt<'_>, String> {
    if text.len() > TEXT_BYTES_MAX {
        return Err(format!("it has {} bytes, at most {TEXT_BYTES_MAX} are allowed", text.len()));
    }
    let (mut tokens, mut depth) = (0, 0_usize);
    for token in machinery::tokenize(text, false, SyntaxConfig::default()) {
        match token.map_err(|error| words(&error))?.0 {
            Token::BlockStart => {
                return Err("syntax error: statements are not allowed; for a choice write \
                            `{{ a if b else c }}`, for `{%` itself `{{ '{%' }}`"
                    .to_owned());
            }
            Token::VariableStart => (tokens, depth) = (0, 0),
            Token::ParenOpen | Token::BracketOpen | Token::BraceOpen => depth += 1,
            Token::ParenClose | Token::BracketClose | Token::BraceClose => depth = depth.saturating_sub(1),
            _ => {}
        }
        tokens += 1;
        if tokens > TEMPLATE_TOKENS_MAX {
            return Err(format!("an expression has more than {TEMPLATE_TOKENS_MAX} words and signs"));
        }
        if depth > TEMPLATE_DEPTH_MAX {
            return Err(format!("brackets are nested more than {TEMPLATE_DEPTH_MAX} deep"));
        }
    }
    machinery::parse(text, "", SyntaxConfig::default()).map_err(|error| words(&error))
}

/// The parts of a tree, in order.
pub(super) fn parts<'a>(tree: &'a Stmt<'a>) -> Result<Vec<Part<'a>>, String> {
    let Stmt::Template(template) = tree else { return Err("syntax error".to_owned()) };
    let parts = template.children.iter().map(|part| match part {
        Stmt::EmitRaw(raw) => Ok(Part::Raw(raw.raw)),
        Stmt::EmitExpr(emit) => Ok(Part::Expression(&emit.expr)),
        _ => Err("syntax error: statements are not allowed".to_owned()),
    });
    parts.collect()
}

/// Collects the names that an expression uses; refuses filters, tests, functions and operators that do not exist.
pub(super) fn check(expr: &Expr<'_>, names: &mut BTreeSet<String>) -> Result<(), String> {
    match expr {
        Expr::Const(_) => Ok(()),
        Expr::Var(_) => {
            names.extend(dotted(expr));
            Ok(())
        }
        Expr::GetAttr(attr) => match dotted(expr) {
            Some(name) => {
                names.insert(name);
                Ok(())
            }
            None => check(&attr.expr, names),
        },
        Expr::GetItem(item) => check_all([&item.expr, &item.subscript_expr], names),
        Expr::Slice(slice) if slice.step.is_some() => Err("syntax error: a slice has no step".to_owned()),
        Expr::Slice(slice) => check_all(
            [Some(&slice.expr), slice.start.as_ref(), slice.stop.as_ref()].into_iter().flatten(),
            names,
        ),
        Expr::UnaryOp(unary) => check(&unary.expr, names),
        Expr::BinOp(binary) => {
            let is_text = |side: &Expr<'_>| matches!(side, Expr::Const(value) if !value.value.is_number());
            let is_list = |side: &Expr<'_>| matches!(side, Expr::List(_) | Expr::Tuple(_) | Expr::Map(_));
            let sides = [&binary.left, &binary.right];
            if matches!(binary.op, BinOpKind::Mul) && sides.iter().any(|side| is_text(side) || is_list(side))
            {
                return Err("`*` takes numbers".to_owned());
            }
            check_all(sides, names)
        }
        Expr::Compare(compare) => {
            check(&compare.expr, names)?;
            check_all(compare.ops.iter().map(|op| &op.expr), names)
        }
        Expr::IfExpr(choice) => check_all(
            [Some(&choice.test_expr), Some(&choice.true_expr), choice.false_expr.as_ref()]
                .into_iter()
                .flatten(),
            names,
        ),
        Expr::Filter(filter) => {
            filter::check(filter.name, &filter.args)?;
            check_all(filter.expr.iter().chain(arguments(&filter.args)?), names)
        }
        Expr::Test(test) => {
            filter::check_test(test.name, &test.args)?;
            check(&test.expr, names)
        }
        Expr::Call(_) => Err("unknown function: templates have filters and no functions".to_owned()),
        Expr::List(list) => check_all(&list.items, names),
        Expr::Tuple(tuple) => check_all(&tuple.items, names),
        Expr::Map(map) => check_all(map.keys.iter().chain(&map.values), names),
    }
}

fn check_all<'a, 's: 'a>(
    exprs: impl IntoIterator<Item = &'a Expr<'s>>,
    names: &mut BTreeSet<String>,
) -> Result<(), String> {
    exprs.into_iter().try_for_each(|expr| check(expr, names))
}

/// The arguments of a filter, which have no names.
pub(super) fn arguments<'a, 's>(args: &'a [CallArg<'s>]) -> Result<Vec<&'a Expr<'s>>, String> {
    let plain = args.iter().map(|arg| match arg {
        CallArg::Pos(expr) => Ok(expr),
        _ => Err("syntax error: arguments have no names and no `*`".to_owned()),
    });
    plain.collect()
}

/// The name of what an expression looks up (`params.day`), if it is nothing but a path.
pub(super) fn dotted(expr: &Expr<'_>) -> Option<String> {
    match expr {
        Expr::Var(var) => Some(var.id.to_owned()),
        Expr::GetAttr(attr) => dotted(&attr.expr).map(|base| format!("{base}.{}", attr.name)),
        _ => None,
    }
}
