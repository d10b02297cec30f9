/**
 * Reads the declaration that the compiler emits for `src/routers/root.ts` and writes its procedures out as plain types, so that the
 * client package ships a declaration without the router, its context or the server's packages. Text in, text out; no compiler API.
 */

export interface ProcedureNode {
  kind: 'query' | 'mutation';
  input: string;
  output: string;
}

export interface GroupNode {
  kind: 'group';
  members: Map<string, GroupNode | ProcedureNode>;
}

/** The member `area` of the emitted `appRouter`. @throws Error when the declaration has another form than the compiler's */
export function readArea(declaration: string, area: string): GroupNode {
  const start = declaration.indexOf('export declare const appRouter: ');
  if (start < 0) throw new Error('The declaration holds no appRouter');
  const root = readNode(declaration.slice(start + 'export declare const appRouter: '.length));
  const node = root.kind === 'group' ? root.members.get(area) : undefined;
  if (node?.kind !== 'group') throw new Error(`The router has no area ${area}`);
  return node;
}

/** Selects the procedures by their path (below `prefix`); empty groups are removed. */
export function filterProcedures(group: GroupNode, keep: (path: string) => boolean, prefix: string): GroupNode {
  const members = new Map<string, GroupNode | ProcedureNode>();
  for (const [name, node] of group.members) {
    const path = `${prefix}.${name}`;
    if (node.kind !== 'group') {
      if (keep(path)) members.set(name, node);
      continue;
    }
    const kept = filterProcedures(node, keep, path);
    if (kept.members.size > 0) members.set(name, kept);
  }
  return { kind: 'group', members };
}

export function countProcedures(group: GroupNode): number {
  return [...group.members.values()].reduce((sum, node) => sum + (node.kind === 'group' ? countProcedures(node) : 1), 0);
}

/**
 * A group as the body of an interface; timestamps of answers are texts on the wire.
 * @param describe comment of the procedure at a path; null = none
 */
export function printGroup(group: GroupNode, path: string, describe: (path: string) => string | null, indent = ''): string {
  if (group.members.size === 0) return '{}';
  const inner = `${indent}  `;
  const lines = [...group.members].map(([name, node]) => {
    const memberPath = `${path}.${name}`;
    const key = /^[\w$]+$/.test(name) ? name : JSON.stringify(name);
    if (node.kind === 'group') return `${inner}${key}: ${printGroup(node, memberPath, describe, inner)};`;
    const type = node.kind === 'query' ? 'Query' : 'Mutation';
    const comment = describe(memberPath)?.replaceAll('*/', '* /');
    const head = comment ? `${inner}/** ${comment} */\n` : '';
    return `${head}${inner}${key}: ${type}<${reindent(node.input, inner)}, ${reindent(timestampsAsText(node.output), inner)}>;`;
  });
  return `{\n${lines.join('\n')}\n${indent}}`;
}

const ROUTER = 'import("@trpc/server").TRPCBuiltRouter<';
const PROCEDURE = /^import\("@trpc\/server"\)\.TRPC(Query|Mutation)Procedure</;

function readNode(text: string): GroupNode | ProcedureNode {
  const type = text.trim();
  const procedure = PROCEDURE.exec(type);
  if (procedure) {
    const facts = readMembers(type.slice(procedure[0].length));
    const [input, output] = [facts.get('input'), facts.get('output')];
    if (input === undefined || output === undefined)
      throw new Error(`A procedure without input or output: ${type.slice(0, 200)}`);
    return { kind: procedure[1] === 'Query' ? 'query' : 'mutation', input, output };
  }
  if (type.startsWith(ROUTER)) {
    const record = splitTop(type.slice(ROUTER.length), ',')[1]?.trim() ?? '';
    return readNode(record.replace(/^import\("@trpc\/server"\)\.TRPCDecorateCreateRouterOptions</, ''));
  }
  if (!type.startsWith('{')) throw new Error(`Neither a router nor a procedure: ${type.slice(0, 200)}`);
  return { kind: 'group', members: new Map([...readMembers(type)].map(([name, value]) => [name, readNode(value)])) };
}

/** Members of the object type at the start of `text`, in order. */
function readMembers(text: string): Map<string, string> {
  const open = text.indexOf('{');
  const members = splitTop(text.slice(open + 1), ';');
  const named = members.map((member) => /^\s*(?:readonly\s+)?(?:"([^"]+)"|([\w$]+))\??:\s*([\s\S]*)$/.exec(member));
  return new Map(named.flatMap((match) => (match ? [[match[1] ?? match[2]!, match[3]!] as const] : [])));
}

/** Splits at `separator` outside any bracket, up to the bracket that closes what `text` is inside of. */
function splitTop(text: string, separator: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let from = 0;
  let at = 0;
  for (; at < text.length; at += 1) {
    const char = text[at]!;
    if (char === '"' || char === "'" || char === '`') at = endOfQuoted(text, at);
    else if ('({[<'.includes(char)) depth += 1;
    else if (')}]'.includes(char) || (char === '>' && text[at - 1] !== '=')) {
      if (depth === 0) break;
      depth -= 1;
    } else if (char === separator && depth === 0) {
      parts.push(text.slice(from, at));
      from = at + 1;
    }
  }
  const rest = text.slice(from, at);
  return rest.trim() === '' ? parts : [...parts, rest];
}

function endOfQuoted(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === text[start]) return at;
  }
  throw new Error('A quoted text without end');
}

/** Replaces the type `Date`, never a key or a text of that name. */
function timestampsAsText(type: string): string {
  return type.replace(/"(?:[^"\\]|\\.)*"|\bDate\b(?!\??:)/g, (found) => (found === 'Date' ? 'string' : found));
}

/** Moves a type of several lines to its new place; the compiler indents by four. */
function reindent(type: string, indent: string): string {
  const lines = type.trim().split('\n');
  const base = widthOf(lines.at(-1)!);
  const moved = lines.slice(1).map((line) => indent + ' '.repeat(Math.max(0, widthOf(line) - base) / 2) + line.trimStart());
  return [lines[0], ...moved].join('\n');
}

function widthOf(line: string): number {
  return line.length - line.trimStart().length;
}
