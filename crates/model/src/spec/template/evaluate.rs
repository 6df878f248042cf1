//! Evaluation of expressions within a byte budget.
//!
//! Every value that is larger than a number is charged before it is made. minijinja does the parsing, the printing and the
//! arithmetic; its own evaluator cannot be used, because it bounds steps and not the size of a value.

use std::collections::BTreeMap;

use minijinja::Value;
use minijinja::machinery::ast::{
    BinOp, BinOpKind, Compare, CompareOpKind, Expr, Filter, GetAttr, GetItem, IfExpr, Map, Slice, Test,
    UnaryOp, UnaryOpKind,
};
use minijinja::value::{Serde, ValueKind};
use serde_json::Value as Json;

use super::budget::{Budget, Text, VALUE_BYTES};
use super::{filter, syntax, words};
use crate::spec::LogicalTime;

/// The names that a template knows.
#[derive(Default)]
pub(super) struct Scope<'a> {
    pub(super) params: Option<&'a Json>,
    pub(super) payload: Option<&'a Json>,
    pub(super) headers: Option<&'a BTreeMap<String, String>>,
    pub(super) logical_time: Option<&'a LogicalTime>,
}

/// The value of an expression. JSON is borrowed as long as it is only looked into.
pub(super) enum Operand<'a> {
    Json(&'a Json),
    Headers(&'a BTreeMap<String, String>),
    Own(Value),
    /// Of a name that there is not.
    Undefined,
    /// Of `a if b` without `else`: prints as nothing.
    Nothing,
}

pub(super) struct Evaluator<'a, 'b> {
    scope: &'a Scope<'a>,
    budget: &'b mut Budget,
}

impl<'a, 'b> Evaluator<'a, 'b> {
    pub(super) fn new(scope: &'a Scope<'a>, budget: &'b mut Budget) -> Self {
        Self { scope, budget }
    }

    /// The text of a whole template.
    pub(super) fn render(&mut self, parts: &[syntax::Part<'_>]) -> Result<String, String> {
        let mut text = String::new();
        for part in parts {
            match part {
                syntax::Part::Raw(raw) => {
                    self.budget.charge(raw.len())?;
                    text.push_str(raw);
                }
                syntax::Part::Expression(expr) => {
                    let value = self.defined(expr)?;
                    self.print(&value, &mut text)?;
                }
            }
        }
        Ok(text)
    }

    /// The value of an expression, which must have one.
    pub(super) fn defined(&mut self, expr: &Expr<'_>) -> Result<Operand<'a>, String> {
        match self.eval(expr)? {
            Operand::Undefined => Err(undefined(expr)),
            value => Ok(value),
        }
    }

    /// Each kind of expression has a function of its own: the frame of this one is on the stack once for each level.
    fn eval(&mut self, expr: &Expr<'_>) -> Result<Operand<'a>, String> {
        match expr {
            Expr::Var(var) => Ok(self.scope.find(var.id)),
            Expr::Const(constant) => Ok(Operand::Own(constant.value.clone())),
            Expr::GetAttr(attr) => self.get_attr(attr),
            Expr::GetItem(item) => self.get_item(item),
            Expr::Slice(slice) => self.slice(slice),
            Expr::UnaryOp(unary) => self.unary(unary),
            Expr::BinOp(binary) => self.binary(binary),
            Expr::Compare(chain) => self.compare(chain),
            Expr::IfExpr(choice) => self.choose(choice),
            Expr::Filter(filter) => self.filter(filter),
            Expr::Test(test) => self.test(test),
            Expr::Call(_) => Err("unknown function: templates have filters and no functions".to_owned()),
            Expr::List(list) => self.values(&list.items).map(Operand::from),
            Expr::Tuple(tuple) => self.values(&tuple.items).map(Operand::from),
            Expr::Map(map) => self.map(map),
        }
    }

    fn get_attr(&mut self, attr: &GetAttr<'_>) -> Result<Operand<'a>, String> {
        let base = self.defined(&attr.expr)?;
        self.attr(&base, attr.name)
    }

    fn get_item(&mut self, item: &GetItem<'_>) -> Result<Operand<'a>, String> {
        let base = self.defined(&item.expr)?;
        let key = self.value(&item.subscript_expr)?;
        self.item(base, &key)
    }

    fn unary(&mut self, unary: &UnaryOp<'_>) -> Result<Operand<'a>, String> {
        match unary.op {
            UnaryOpKind::Not => {
                let value = self.defined(&unary.expr)?;
                Ok(Operand::Own(Value::from(!is_true(&value))))
            }
            UnaryOpKind::Neg => {
                let value = self.value(&unary.expr)?;
                arithmetic("-", "-a", &value, &value)
            }
        }
    }

    fn binary(&mut self, binary: &BinOp<'_>) -> Result<Operand<'a>, String> {
        if let BinOpKind::ScAnd | BinOpKind::ScOr = binary.op {
            let left = self.defined(&binary.left)?;
            let is_left = is_true(&left) == matches!(binary.op, BinOpKind::ScOr);
            return if is_left { Ok(left) } else { self.eval(&binary.right) };
        }
        let left = self.value(&binary.left)?;
        let right = self.value(&binary.right)?;
        self.operate(binary.op, &left, &right)
    }

    fn compare(&mut self, chain: &Compare<'_>) -> Result<Operand<'a>, String> {
        let mut left = self.value(&chain.expr)?;
        for next in &chain.ops {
            let right = self.value(&next.expr)?;
            if !compare(next.op, &left, &right)? {
                return Ok(Operand::Own(Value::from(false)));
            }
            left = right;
        }
        Ok(Operand::Own(Value::from(true)))
    }

    fn choose(&mut self, choice: &IfExpr<'_>) -> Result<Operand<'a>, String> {
        let test = self.defined(&choice.test_expr)?;
        match (is_true(&test), &choice.false_expr) {
            (true, _) => self.eval(&choice.true_expr),
            (false, Some(otherwise)) => self.eval(otherwise),
            (false, None) => Ok(Operand::Nothing),
        }
    }

    fn test(&mut self, test: &Test<'_>) -> Result<Operand<'a>, String> {
        let value = self.eval(&test.expr)?;
        let value = self.known(value)?;
        filter::test(test.name, value.as_ref()).map(|holds| Operand::Own(Value::from(holds)))
    }

    fn map(&mut self, map: &Map<'_>) -> Result<Operand<'a>, String> {
        let (keys, values) = (self.values(&map.keys)?, self.values(&map.values)?);
        let map: BTreeMap<Value, Value> = keys.into_iter().zip(values).collect();
        Ok(Operand::Own(Value::from_object(map)))
    }

    /// The values of a list that a template writes.
    fn values(&mut self, exprs: &[Expr<'_>]) -> Result<Vec<Value>, String> {
        self.budget.charge(exprs.len() * VALUE_BYTES)?;
        exprs.iter().map(|expr| self.value(expr)).collect()
    }

    /// The value of an expression as one of its own.
    fn value(&mut self, expr: &Expr<'_>) -> Result<Value, String> {
        let value = self.defined(expr)?;
        Ok(self.known(value)?.unwrap_or_else(|| Value::from("")))
    }

    /// A value of its own, charged; none if it is undefined.
    fn known(&mut self, value: Operand<'_>) -> Result<Option<Value>, String> {
        Ok(Some(match value {
            Operand::Own(value) => value,
            Operand::Json(json) => {
                self.budget.charge_json(json)?;
                Value::from(Serde(json))
            }
            Operand::Headers(headers) => {
                let bytes = headers.iter().map(|(name, value)| 2 * VALUE_BYTES + name.len() + value.len());
                self.budget.charge(bytes.sum())?;
                Value::from(Serde(headers))
            }
            Operand::Undefined | Operand::Nothing => return Ok(None),
        }))
    }

    /// What a map has under a name.
    fn attr(&mut self, base: &Operand<'a>, name: &str) -> Result<Operand<'a>, String> {
        let found = match base {
            Operand::Json(json) => json.get(name).map(Operand::Json),
            Operand::Headers(headers) => match headers.get(name) {
                Some(value) => {
                    self.budget.charge(VALUE_BYTES + value.len())?;
                    Some(Operand::Own(Value::from(value.as_str())))
                }
                None => None,
            },
            Operand::Own(value) => {
                value.get_attr(name).ok().filter(|found| !found.is_undefined()).map(Operand::Own)
            }
            Operand::Undefined | Operand::Nothing => None,
        };
        Ok(found.unwrap_or(Operand::Undefined))
    }

    fn item(&mut self, base: Operand<'a>, key: &Value) -> Result<Operand<'a>, String> {
        if let Some(name) = key.as_str() {
            return self.attr(&base, name);
        }
        if let (Operand::Json(Json::Array(items)), Ok(index)) = (&base, i64::try_from(key.clone())) {
            let index = if index < 0 { index.saturating_add_unsigned(items.len() as u64) } else { index };
            let found = usize::try_from(index).ok().and_then(|index| items.get(index));
            return Ok(found.map_or(Operand::Undefined, Operand::Json));
        }
        let found = self.known(base)?.and_then(|base| base.get_item(key).ok());
        Ok(found.filter(|value| !value.is_undefined()).map_or(Operand::Undefined, Operand::Own))
    }

    /// A part of text or of a list.
    fn slice(&mut self, slice: &Slice<'_>) -> Result<Operand<'a>, String> {
        if slice.step.is_some() {
            return Err("a slice has no step".to_owned());
        }
        let base = self.value(&slice.expr)?;
        let mut bound = |expr: &Option<Expr<'_>>| match expr {
            Some(expr) => self.value(expr),
            None => Ok(Value::from(())),
        };
        let (start, stop) = (bound(&slice.start)?, bound(&slice.stop)?);
        match base.kind() {
            ValueKind::String => self.budget.charge(base.as_str().map_or(0, str::len))?,
            ValueKind::Seq => self.budget.charge(base.len().unwrap_or(0).saturating_mul(VALUE_BYTES))?,
            kind => return Err(format!("invalid operation: a {kind} cannot be sliced")),
        }
        calculate("a[b:c]", minijinja::context! { a => base, b => start, c => stop })
    }

    fn filter(&mut self, filter: &Filter<'_>) -> Result<Operand<'a>, String> {
        let Some(expr) = &filter.expr else { return Err("syntax error: a filter of nothing".to_owned()) };
        let args = syntax::arguments(&filter.args)?;
        let value = self.eval(expr)?;
        if let ("default", [otherwise]) = (filter.name, &*args) {
            return match value {
                Operand::Undefined | Operand::Nothing | Operand::Json(Json::Null) => self.eval(otherwise),
                Operand::Own(value) if value.is_none() => self.eval(otherwise),
                value => Ok(value),
            };
        }
        let args = args.into_iter().map(|arg| self.value(arg)).collect::<Result<Vec<_>, _>>()?;
        let Some(value) = self.known(value)? else { return Err(undefined(expr)) };
        filter::apply(filter.name, &value, &args, self.budget).map(Operand::Own)
    }

    fn operate(&mut self, op: BinOpKind, left: &Value, right: &Value) -> Result<Operand<'a>, String> {
        let is_text = left.kind() == ValueKind::String && right.kind() == ValueKind::String;
        match op {
            BinOpKind::Eq => compare(CompareOpKind::Eq, left, right),
            BinOpKind::Ne => compare(CompareOpKind::Ne, left, right),
            BinOpKind::Lt => compare(CompareOpKind::Lt, left, right),
            BinOpKind::Lte => compare(CompareOpKind::Lte, left, right),
            BinOpKind::Gt => compare(CompareOpKind::Gt, left, right),
            BinOpKind::Gte => compare(CompareOpKind::Gte, left, right),
            BinOpKind::In => compare(CompareOpKind::In, left, right),
            BinOpKind::Concat => return self.concat(left, right),
            BinOpKind::Add if is_text => return self.concat(left, right),
            BinOpKind::Add => return arithmetic("+", "a + b", left, right),
            BinOpKind::Sub => return arithmetic("-", "a - b", left, right),
            BinOpKind::Mul => return arithmetic("*", "a * b", left, right),
            BinOpKind::Div => return arithmetic("/", "a / b", left, right),
            BinOpKind::FloorDiv => return arithmetic("//", "a // b", left, right),
            BinOpKind::Rem => return arithmetic("%", "a % b", left, right),
            BinOpKind::Pow => return arithmetic("**", "a ** b", left, right),
            // These evaluate one side only, and do not come here.
            BinOpKind::ScAnd | BinOpKind::ScOr => Ok(left.is_true() && right.is_true()),
        }
        .map(|holds| Operand::Own(Value::from(holds)))
    }

    fn concat(&mut self, left: &Value, right: &Value) -> Result<Operand<'a>, String> {
        let mut text = Text::after(String::new(), self.budget);
        text.push(left)?;
        text.push(right)?;
        Ok(Operand::Own(Value::from(text.text)))
    }

    /// Appends what a value prints; text of the parameters as it is, without a copy on the way.
    fn print(&mut self, value: &Operand<'_>, out: &mut String) -> Result<(), String> {
        let printed = match value {
            Operand::Nothing | Operand::Undefined => return Ok(()),
            Operand::Json(Json::String(text)) => {
                self.budget.charge(text.len())?;
                out.push_str(text);
                return Ok(());
            }
            Operand::Json(json) => self.known(Operand::Json(json))?,
            Operand::Headers(headers) => self.known(Operand::Headers(headers))?,
            Operand::Own(value) => Some(value.clone()),
        };
        let mut text = Text::after(std::mem::take(out), self.budget);
        printed.map_or(Ok(()), |value| text.push(value))?;
        *out = text.text;
        Ok(())
    }
}

impl<'a> Scope<'a> {
    fn find(&self, name: &str) -> Operand<'a> {
        let found = match name {
            "params" => self.params.map(Operand::Json),
            "payload" => self.payload.map(Operand::Json),
            "headers" => self.headers.map(Operand::Headers),
            "logical_time" => self.logical_time.map(|time| Operand::Own(Value::from_object(time.clone()))),
            _ => None,
        };
        found.unwrap_or(Operand::Undefined)
    }
}

impl From<Vec<Value>> for Operand<'_> {
    fn from(values: Vec<Value>) -> Self {
        Self::Own(Value::from(values))
    }
}

fn is_true(value: &Operand<'_>) -> bool {
    match value {
        Operand::Json(Json::Array(items)) => !items.is_empty(),
        Operand::Json(Json::Object(fields)) => !fields.is_empty(),
        Operand::Json(Json::String(text)) => !text.is_empty(),
        Operand::Json(Json::Number(number)) => number.as_f64() != Some(0.0),
        Operand::Json(Json::Bool(flag)) => *flag,
        Operand::Json(Json::Null) | Operand::Undefined | Operand::Nothing => false,
        Operand::Headers(headers) => !headers.is_empty(),
        Operand::Own(value) => value.is_true(),
    }
}

fn undefined(expr: &Expr<'_>) -> String {
    match syntax::dotted(expr) {
        Some(name) => format!("undefined value: `{name}`"),
        None => "undefined value".to_owned(),
    }
}

fn compare(op: CompareOpKind, left: &Value, right: &Value) -> Result<bool, String> {
    Ok(match op {
        CompareOpKind::Eq => left == right,
        CompareOpKind::Ne => left != right,
        CompareOpKind::Lt => left < right,
        CompareOpKind::Lte => left <= right,
        CompareOpKind::Gt => left > right,
        CompareOpKind::Gte => left >= right,
        CompareOpKind::In => contains(right, left)?,
        CompareOpKind::NotIn => !contains(right, left)?,
    })
}

fn contains(container: &Value, value: &Value) -> Result<bool, String> {
    let found = calculate("a in b", minijinja::context! { a => value, b => container })?;
    Ok(matches!(found, Operand::Own(found) if found.is_true()))
}

/// Arithmetic is of numbers alone: on text and lists minijinja repeats and chains.
fn arithmetic(
    sign: &str,
    expression: &'static str,
    left: &Value,
    right: &Value,
) -> Result<Operand<'static>, String> {
    for side in [left, right] {
        if side.kind() != ValueKind::Number {
            let both = if sign == "+" { "numbers, or texts" } else { "numbers" };
            return Err(format!("invalid operation: `{sign}` takes {both}, not a {}", side.kind()));
        }
    }
    calculate(expression, minijinja::context! { a => left, b => right })
}

/// Lets minijinja calculate with operands whose size was looked at.
fn calculate(expression: &'static str, context: Value) -> Result<Operand<'static>, String> {
    let environment = minijinja::Environment::empty();
    let value = environment.compile_expression(expression).and_then(|expression| expression.eval(context));
    value.map(Operand::Own).map_err(|error| words(&error))
}
