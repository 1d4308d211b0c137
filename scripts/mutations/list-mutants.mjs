/**
 * Lists the mutants of a source file. Each is one small change that a careless edit could make, such as `<` instead of
 * `<=`, a check that never runs, a missing effect, or a reversed condition in SQL.
 */
import { parseAst } from "rolldown/parseAst";

const SWAPPED = {
  "<": "<=",
  "<=": "<",
  ">": ">=",
  ">=": ">",
  "===": "!==",
  "!==": "===",
  "+": "-",
  "-": "+",
  "*": "/",
  "/": "*",
  "&&": "||",
  "||": "&&",
};
/** Operators that Knex takes as strings. */
const COMPARISONS = new Set(["<", "<=", ">", ">="]);
const LOOKS_LIKE_SQL = /\b(?:SELECT|UPDATE|DELETE|INSERT|WHERE|AND|FROM|WHEN)\b/;
const SQL_CHANGES = [
  [/ <= /g, " < "],
  [/ >= /g, " > "],
  [/ < /g, " <= "],
  [/ > /g, " >= "],
  [/ AND (?=NOT\b|EXISTS|[a-z:(])/g, " OR "],
  [/\bNOT EXISTS\b/g, "EXISTS"],
  [/\bIS NOT NULL\b/g, "IS NULL"],
  [/\bIS NULL\b/g, "IS NOT NULL"],
  [/ = true\b/g, " = false"],
  [/ = false\b/g, " = true"],
  [/ DESC\b/g, " ASC"],
];

/**
 * Returns the mutants of a source as `{ start, end, text, functions, users }`: the range to replace in UTF-16 code units,
 * the replacement, the names of the enclosing functions, the innermost first, and the names of what uses the enclosing
 * declaration in the source, directly or not: a statement is often a constant.
 */
export function listMutants(source) {
  const found = [];
  const { body } = parseAst(source, { lang: "ts" });
  const declared = body.map((node) => ({ node, name: declaredName(node) }));
  for (const { node, name } of declared) {
    const from = found.length;
    visit(node, [], undefined);
    const users = usersOf(name, declared, source);
    for (const mutant of found.slice(from)) mutant.users = users;
  }
  return found;

  function visit(node, functions, parent) {
    if (node === null || typeof node !== "object") return;
    if (Array.isArray(node)) return node.forEach((each) => visit(each, functions, parent));
    if (typeof node.type !== "string" || (node.type.startsWith("TS") && !("expression" in node))) return;
    if (node.type === "ImportDeclaration" || node.type === "ExportAllDeclaration") return;
    const name = nameOf(node, parent);
    const within = name === undefined ? functions : [name, ...functions];
    for (const { start = node.start, end = node.end, text } of changesOf(node, source)) {
      found.push({ start, end, text, functions: within });
    }
    for (const [key, child] of Object.entries(node)) {
      if (key !== "typeAnnotation" && key !== "typeArguments") visit(child, within, node);
    }
  }
}

/** Returns the name that a statement of a module declares. */
function declaredName({ declaration, ...node }) {
  const { id, declarations: [first] = [] } = declaration ?? node;
  return id?.name ?? first?.id?.name;
}

/** Returns the names of the declarations that use one, directly or not. */
function usersOf(used, declared, source) {
  if (used === undefined) return [];
  const users = [used];
  for (const user of users) {
    const mention = new RegExp(`\\b${user.replaceAll("$", "\\$")}\\b`);
    const found = declared.filter(({ node }) => mention.test(source.slice(node.start, node.end)));
    const names = new Set(found.map(({ name }) => name));
    users.push(...[...names].filter((name) => name !== undefined && !users.includes(name)));
  }
  return users.slice(1);
}

function nameOf(node, parent) {
  if (!/^(?:FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(node.type)) return undefined;
  const isPrivate = parent?.key?.type === "PrivateIdentifier";
  return node.id?.name ?? parent?.id?.name ?? (isPrivate ? `#${parent.key.name}` : parent?.key?.name);
}

function changesOf(node, source) {
  const textOf = ({ start, end }) => source.slice(start, end);
  switch (node.type) {
    case "BinaryExpression":
    case "LogicalExpression":
      return operatorChanges(node, source);
    case "UnaryExpression":
      return node.operator === "!" ? [{ end: node.start + 1, text: "" }] : [];
    case "IfStatement":
      return [{ start: node.test.start, end: node.test.end, text: "false" }];
    case "ConditionalExpression":
      return [{ text: `((${textOf(node.test)}) ? (${textOf(node.alternate)}) : (${textOf(node.consequent)}))` }];
    case "ExpressionStatement":
      return isCall(node.expression) ? [{ text: "{}" }] : [];
    case "Literal":
      return literalChanges(node, textOf);
    case "TemplateElement":
      return sqlChanges(node, textOf(node));
    default:
      return [];
  }
}

/** Replaces only the operator, because the ranges of its operands exclude the parentheses around them. */
function operatorChanges({ operator, left, right }, source) {
  if (operator === "??") return [{ text: `(${source.slice(left.start, left.end)})` }];
  const swapped = SWAPPED[operator];
  if (swapped === undefined || (operator === "+" && [left, right].some(isText))) return [];
  const start = source.indexOf(operator, left.end);
  return [{ start, end: start + operator.length, text: swapped }];
}

function isText({ type, value }) {
  return type === "TemplateLiteral" || typeof value === "string";
}

function isCall({ type, argument }) {
  return type === "CallExpression" || (type === "AwaitExpression" && argument.type === "CallExpression");
}

function literalChanges(node, textOf) {
  if (typeof node.value === "boolean") return [{ text: String(!node.value) }];
  if (typeof node.value !== "string") return [];
  if (COMPARISONS.has(node.value)) return [{ text: JSON.stringify(SWAPPED[node.value]) }];
  return sqlChanges(node, textOf(node));
}

function sqlChanges({ start }, text) {
  if (!LOOKS_LIKE_SQL.test(text)) return [];
  return SQL_CHANGES.flatMap(([pattern, put]) =>
    Array.from(text.matchAll(pattern), (match) => ({
      start: start + match.index,
      end: start + match.index + match[0].length,
      text: put,
    })),
  );
}
