import { type Token, tokenize, withoutComments } from './typescript-lexer.ts';

/** A name that a file declares, as far as text constants need it, and where it is visible (offsets in the file). */
export interface Declaration {
  name: string;
  kind: 'const' | 'function' | 'parameter' | 'variable';
  scope: { start: number; end: number };
  /** Of a constant its initial value, of a function its body with the braces or its one expression. */
  tokens: Token[];
  /** Parameter names of a function, in order; null where one is destructured. */
  parameters?: (string | null)[];
  /** Of a constant from a destructured object: its key there. */
  key?: string;
  /** Statements that add to an array: the tokens between the brackets of `name.push(…)`. */
  pushed?: Token[][];
}

export interface FileFacts {
  path: string;
  source: string;
  tokens: Token[];
  declarations: Map<string, Declaration[]>;
  /** Local name to module path as written and name there. */
  imports: Map<string, { from: string; name: string }>;
}

const OPEN: Record<string, string> = { '(': ')', '[': ']', '{': '}' };
const isPunct = (token: Token | undefined, text: string): boolean => token?.kind === 'punct' && token.text === text;
const isWord = (token: Token | undefined, text: string): boolean => token?.kind === 'word' && token.text === text;

/** For each opening bracket the index of its closing one. */
export function bracketPairs(tokens: readonly Token[]): Map<number, number> {
  const pairs = new Map<number, number>();
  const open: number[] = [];
  tokens.forEach((token, index) => {
    if (token.kind !== 'punct') return;
    if (token.text in OPEN) open.push(index);
    else if (')]}'.includes(token.text) && open.length > 0) pairs.set(open.pop()!, index);
  });
  return pairs;
}

/** Splits at a separator outside of brackets. */
export function splitAt(tokens: readonly Token[], separator: string): Token[][] {
  const parts: Token[][] = [[]];
  let depth = 0;
  for (const token of tokens) {
    if (token.kind === 'punct' && token.text in OPEN) depth++;
    if (token.kind === 'punct' && ')]}'.includes(token.text)) depth--;
    if (depth === 0 && isPunct(token, separator)) parts.push([]);
    else parts.at(-1)!.push(token);
  }
  return parts;
}

export function readFacts(path: string, source: string): FileFacts {
  const tokens = withoutComments(tokenize(source));
  const facts: FileFacts = { path, source, tokens, declarations: new Map(), imports: readImports(tokens) };
  const pairs = bracketPairs(tokens);
  const declare = (declaration: Declaration): void => {
    facts.declarations.set(declaration.name, [...(facts.declarations.get(declaration.name) ?? []), declaration]);
  };
  const blocks: { start: number; end: number }[] = [{ start: 0, end: source.length }];
  tokens.forEach((token, index) => {
    while (blocks.length > 1 && token.start >= blocks.at(-1)!.end) blocks.pop();
    if (isPunct(token, '{') && pairs.has(index)) blocks.push({ start: token.start, end: tokens[pairs.get(index)!]!.end });
    const scope = blocks.at(-1)!;
    if (isWord(token, 'const') || isWord(token, 'let')) {
      for (const found of readVariable(tokens, index, pairs)) declare({ ...found, scope });
    }
    if (isWord(token, 'function')) readFunction(tokens, index, pairs, scope).forEach(declare);
    if (isPunct(token, '=>')) readArrowParameters(tokens, index, pairs).forEach(declare);
  });
  for (const list of facts.declarations.values()) for (const declaration of list) addPushes(declaration, tokens, pairs);
  return facts;
}

function readImports(tokens: readonly Token[]): FileFacts['imports'] {
  const imports: FileFacts['imports'] = new Map();
  for (let index = 0; index < tokens.length; index++) {
    if (!isWord(tokens[index], 'import')) continue;
    const end = tokens.findIndex((token, at) => at > index && token.kind === 'string');
    if (end < 0) break;
    for (let at = index + 1; at < end; at++) {
      const token = tokens[at]!;
      if (token.kind !== 'word' || ['type', 'from', 'as'].includes(token.text)) continue;
      const renamed = isWord(tokens[at + 1], 'as') ? tokens[at + 2]!.text : token.text;
      imports.set(renamed, { from: tokens[end]!.text, name: token.text });
      if (renamed !== token.text) at += 2;
    }
    index = end;
  }
  return imports;
}

type Found = Omit<Declaration, 'scope'>;

function readVariable(tokens: readonly Token[], at: number, pairs: Map<number, number>): Found[] {
  const isConstant = tokens[at]!.text === 'const';
  const names: { name: string; key?: string }[] = [];
  let next = at + 1;
  const target = tokens[next];
  if (target?.kind === 'word') names.push({ name: target.text });
  else if (pairs.has(next)) {
    const inner = tokens.slice(next + 1, pairs.get(next)!);
    for (const part of splitAt(inner, ',')) {
      const [first] = part;
      if (first?.kind !== 'word') continue;
      const renamed = isPunct(part[1], ':') && part[2]?.kind === 'word' ? part[2].text : first.text;
      names.push({ name: renamed, ...(isPunct(target, '{') ? { key: first.text } : {}) });
    }
    next = pairs.get(next)!;
  } else return [];
  next++;
  while (next < tokens.length && !isPunct(tokens[next], '=')) {
    if (isPunct(tokens[next], ';') || isWord(tokens[next], 'of') || isWord(tokens[next], 'in'))
      return names.map(({ name }) => ({ name, kind: 'variable', tokens: [] }));
    next = (pairs.get(next) ?? next) + 1;
  }
  const start = ++next;
  while (next < tokens.length && !isPunct(tokens[next], ';')) next = (pairs.get(next) ?? next) + 1;
  const value = tokens.slice(start, next);
  const arrow = isConstant && names.length === 1 ? readArrow(value) : null;
  if (arrow) return [{ name: names[0]!.name, kind: 'function', ...arrow }];
  return names.map((name) => ({ ...name, kind: isConstant ? 'const' : 'variable', tokens: value }));
}

/** The parameters and the body of `(a, b): T => …` or `a => …`; null for any other expression. */
export function readArrow(value: readonly Token[]): { parameters: (string | null)[]; tokens: Token[] } | null {
  const pairs = bracketPairs(value);
  const at = isWord(value[0], 'async') ? 1 : 0;
  if (value[at]?.kind === 'word' && isPunct(value[at + 1], '=>'))
    return { parameters: [value[at]!.text], tokens: value.slice(at + 2) };
  const close = pairs.get(at);
  if (!isPunct(value[at], '(') || close === undefined) return null;
  let next = close + 1;
  if (isPunct(value[next], ':')) while (next < value.length && !isPunct(value[next], '=>')) next = (pairs.get(next) ?? next) + 1;
  if (!isPunct(value[next], '=>')) return null;
  return { parameters: parameterNames(value.slice(at + 1, close)), tokens: value.slice(next + 1) };
}

function parameterNames(tokens: readonly Token[]): (string | null)[] {
  return splitAt(tokens, ',')
    .filter((part) => part.length > 0)
    .map((part) => (part[0]!.kind === 'word' ? part[0]!.text : null));
}

function readFunction(
  tokens: readonly Token[],
  at: number,
  pairs: Map<number, number>,
  scope: Declaration['scope'],
): Declaration[] {
  const name = tokens[at + 1];
  if (name?.kind !== 'word') return [];
  let open = at + 2;
  while (open < tokens.length && !isPunct(tokens[open], '(')) open++;
  const close = pairs.get(open);
  if (close === undefined) return [];
  let body = close + 1;
  while (body < tokens.length && !(isPunct(tokens[body], '{') && !isTypeStart(tokens[body - 1]!))) {
    if (isPunct(tokens[body], ';')) return [];
    body = (pairs.get(body) ?? body) + 1;
  }
  const end = pairs.get(body);
  if (end === undefined) return [];
  const parameters = parameterNames(tokens.slice(open + 1, close));
  const inside = { start: tokens[open]!.start, end: tokens[end]!.end };
  return [
    { name: name.text, kind: 'function', scope, parameters, tokens: tokens.slice(body, end + 1) },
    ...parameters.flatMap((parameter) =>
      parameter === null ? [] : [{ name: parameter, kind: 'parameter' as const, scope: inside, tokens: [] }],
    ),
  ];
}

/** Whether a brace after this token begins a type and not a body. */
const isTypeStart = (token: Token): boolean =>
  token.kind === 'punct' && ['<', ':', '|', '&', ',', '(', '[', '=>'].includes(token.text);

/** The parameters of an arrow function, visible from its bracket to the end of its body. */
function readArrowParameters(tokens: readonly Token[], arrow: number, pairs: Map<number, number>): Declaration[] {
  let open = arrow - 1;
  if (tokens[open]?.kind === 'word') {
    // Either `a => …` or the end of a return type, `(a): T => …`.
    const close = isPunct(tokens[open - 1], ':') && isPunct(tokens[open - 2], ')') ? open - 2 : null;
    if (close !== null) open = close;
  }
  let names: (string | null)[];
  if (isPunct(tokens[open], ')')) {
    const close = open;
    open = [...pairs].find(([, end]) => end === close)?.[0] ?? -1;
    if (open < 0) return [];
    names = parameterNames(tokens.slice(open + 1, close));
  } else if (tokens[open]?.kind === 'word') names = [tokens[open]!.text];
  else return [];
  let end = arrow + 1;
  while (end < tokens.length && !(tokens[end]!.kind === 'punct' && ',;)]}'.includes(tokens[end]!.text)))
    end = (pairs.get(end) ?? end) + 1;
  const scope = { start: tokens[open]!.start, end: tokens[Math.min(end, tokens.length - 1)]!.end };
  return names.flatMap((name) => (name === null ? [] : [{ name, kind: 'parameter' as const, scope, tokens: [] }]));
}

function addPushes(declaration: Declaration, tokens: readonly Token[], pairs: Map<number, number>): void {
  if (declaration.kind !== 'const' || !isPunct(declaration.tokens[0], '[')) return;
  const { start, end } = declaration.scope;
  tokens.forEach((token, index) => {
    if (token.start < start || token.end > end || !isWord(token, declaration.name) || isPunct(tokens[index - 1], '.')) return;
    if (!isPunct(tokens[index + 1], '.') || !isWord(tokens[index + 2], 'push') || !isPunct(tokens[index + 3], '(')) return;
    declaration.pushed = [...(declaration.pushed ?? []), tokens.slice(index + 4, pairs.get(index + 3))];
  });
}

/** The declaration of a name that is visible at an offset: the innermost one. */
export function findDeclaration(facts: FileFacts, name: string, offset: number): Declaration | undefined {
  let best: Declaration | undefined;
  for (const declaration of facts.declarations.get(name) ?? []) {
    if (offset < declaration.scope.start || offset >= declaration.scope.end) continue;
    if (!best || declaration.scope.start >= best.scope.start) best = declaration;
  }
  return best;
}
