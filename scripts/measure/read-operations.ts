import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { SourceText } from '../checks/source-files.ts';
import { type Token, tokenize, withoutComments } from '../checks/typescript-lexer.ts';

export interface ReadOperation {
  name: string;
  /** Files whose parts it uses, from the procedure to the database, and one test: what is read to understand it. */
  files: string[];
  /** Those with a part that no other operation uses, and one test: what had to be written or changed for it. */
  touched: string[];
}

/** Everything that a top-level declaration names. */
interface FileParts {
  imports: Map<string, { file: string; name: string; isType: boolean }>;
  parts: Map<string, Set<string>>;
  /** Interfaces and types. */
  types: Set<string>;
}

/** What all operations share, so that a new one does not change it. */
const GENERIC =
  /^src\/(?:core|generated)\/|^src\/routers\/(?:trpc|context|root|wire|operation-meta|shared\.schemas|audit-trail)\.ts$/;

/**
 * Follows the names from a `.query(` procedure through the functions and types that it uses. Counted: the router's file, files of
 * src/routers, and files of those modules of the domain that the router calls directly; plus the operation's test. Not counted: core,
 * the base procedures, other code that all operations share, and modules that the use case itself calls. A part is a top-level
 * declaration.
 */
export function traceReadOperations(root: string, files: readonly SourceText[]): ReadOperation[] {
  const texts = new Map(files.map(({ path, text }) => [path, text]));
  const partsOf = partsReader(root, texts);
  const operations = files
    .filter(({ path }) => path.endsWith('.router.ts') || path.endsWith('-procedures.ts'))
    .flatMap(({ path, text }) =>
      procedures(withoutComments(tokenize(text))).map(({ name, isRead, words }) => ({
        name: `${path} ${name}`,
        router: path,
        isRead,
        used: trace(path, words, partsOf, false),
      })),
    );
  const users = new Map<string, number>();
  for (const { used } of operations) for (const key of used.keys()) users.set(key, (users.get(key) ?? 0) + 1);
  return operations
    .filter(({ isRead }) => isRead)
    .map(({ name, router, used }) => {
      const mine = [...used].filter(([key]) => users.get(key) === 1).map(([, file]) => file);
      return { name, files: withRouterAndTest(router, used.values()), touched: withRouterAndTest(router, mine) };
    });
}

/**
 * The files that a purchase of a tariff passes from its procedure in the cabinet to the database: followed like a read, but through all modules
 * of the domain that it uses, and through what is called or read only: a type is not passed.
 */
export function tracePurchase(root: string, files: readonly SourceText[]): string[] {
  const router = 'src/routers/cabinet/subscription-purchase.router.ts';
  const texts = new Map(files.map(({ path, text }) => [path, text]));
  const purchase = procedures(withoutComments(tokenize(texts.get(router) ?? ''))).find(({ name }) => name === 'purchaseTariff');
  return purchase ? [...new Set([router, ...trace(router, purchase.words, partsReader(root, texts), true).values()])] : [];
}

const withRouterAndTest = (router: string, files: Iterable<string>): string[] => [...new Set([router, ...files]), 'its test'];

const moduleOf = (path: string): string | null => /^src\/domain\/([^/]+)\//.exec(path)?.[1] ?? null;

function partsReader(root: string, texts: ReadonlyMap<string, string>): (path: string) => FileParts {
  const read = new Map<string, FileParts>();
  return (path) => {
    if (!read.has(path)) read.set(path, readParts(root, path, texts.get(path) ?? ''));
    return read.get(path)!;
  };
}

/**
 * @param isWhole also modules that the router does not call itself, and no types
 * @returns the file of each part that is used, by `file name`
 */
function trace(
  router: string,
  words: ReadonlySet<string>,
  partsOf: (path: string) => FileParts,
  isWhole: boolean,
): Map<string, string> {
  const modules = new Set<string | null>();
  const used = new Map<string, string>();
  const follow = (file: string, names: ReadonlySet<string>): void => {
    const { imports, parts } = partsOf(file);
    for (const name of names) {
      const imported = imports.get(name);
      const target = imported ?? (parts.has(name) ? { file, name, isType: false } : null);
      if (!target || GENERIC.test(target.file) || used.has(`${target.file} ${target.name}`)) continue;
      const module = moduleOf(target.file);
      if (module !== null && file.startsWith('src/routers/')) modules.add(module);
      if (isWhole ? target.isType || partsOf(target.file).types.has(target.name) : module !== null && !modules.has(module))
        continue;
      used.set(`${target.file} ${target.name}`, target.file);
      follow(target.file, partsOf(target.file).parts.get(target.name) ?? new Set([target.name]));
    }
  };
  follow(router, words);
  return used;
}

function readParts(root: string, path: string, text: string): FileParts {
  const tokens = withoutComments(tokenize(text));
  const imports: FileParts['imports'] = new Map();
  for (const match of text.matchAll(/^(?:import|export) (type )?\{([^}]*)\} from '(\.[^']+)'/gm)) {
    const file = join(dirname(path), match[3]!);
    if (!existsSync(join(root, file))) continue;
    for (const entry of match[2]!.split(',')) {
      const [name, local] = entry
        .trim()
        .replace(/^type /, '')
        .split(' as ');
      if (name) imports.set(local ?? name, { file, name, isType: match[1] !== undefined || entry.trim().startsWith('type ') });
    }
  }
  const parts: FileParts['parts'] = new Map();
  const types: FileParts['types'] = new Set();
  let depth = 0;
  let current = new Set<string>();
  tokens.forEach((token, index) => {
    if (token.kind === 'punct' && '({['.includes(token.text)) depth++;
    if (token.kind === 'punct' && ')}]'.includes(token.text)) depth--;
    if (depth === 0 && ['const', 'function', 'interface', 'type', 'class', 'let'].includes(token.text) && token.kind === 'word') {
      const name = tokens[index + 1];
      const isDeclaration = index === 0 || [';', '}', 'export', 'async', 'abstract', 'declare'].includes(tokens[index - 1]!.text);
      if (name?.kind === 'word' && isDeclaration) {
        current = parts.get(name.text) ?? new Set();
        parts.set(name.text, current);
        if (token.text === 'interface' || token.text === 'type') types.add(name.text);
      }
    }
    if (!MEMBER_OF.has(tokens[index - 1]?.text ?? '')) addWords(token, current);
  });
  return { imports, parts, types };
}

/** What follows these is a member of something else, not a name of the file. */
const MEMBER_OF = new Set(['.', '?.']);

function addWords(token: Token, words: Set<string>): void {
  if (token.kind === 'word') words.add(token.text);
  for (const part of token.parts ?? []) if ('code' in part) for (const inner of part.code) addWords(inner, words);
}

/** The properties of a router whose value ends in `.query(…)` or `.mutation(…)`. */
export function procedures(tokens: readonly Token[]): { name: string; isRead: boolean; words: Set<string> }[] {
  const found: { name: string; isRead: boolean; words: Set<string> }[] = [];
  let depth = 0;
  const starts: { at: number; depth: number }[] = [];
  tokens.forEach((token, index) => {
    if (token.kind === 'punct' && '({['.includes(token.text)) depth++;
    if (token.kind === 'punct' && ')}]'.includes(token.text)) depth--;
    while (starts.length > 0 && starts.at(-1)!.depth > depth) starts.pop();
    const isKey = token.kind === 'word' && tokens[index + 1]?.text === ':' && ['{', ','].includes(tokens[index - 1]?.text ?? '');
    if (isKey) {
      if (starts.at(-1)?.depth === depth) starts.pop();
      starts.push({ at: index, depth });
    }
    const isHandler = token.kind === 'word' && (token.text === 'query' || token.text === 'mutation');
    const start = starts.at(-1);
    if (!isHandler || tokens[index - 1]?.text !== '.' || tokens[index + 1]?.text !== '(' || start?.depth !== depth) return;
    let end = index + 1;
    let open = 0;
    for (; end < tokens.length; end++) {
      if (tokens[end]!.kind === 'punct' && '({['.includes(tokens[end]!.text)) open++;
      if (tokens[end]!.kind === 'punct' && ')}]'.includes(tokens[end]!.text) && --open === 0) break;
    }
    const words = new Set<string>();
    for (const inner of tokens.slice(start.at + 2, end)) addWords(inner, words);
    found.push({ name: tokens[start.at]!.text, isRead: token.text === 'query', words });
  });
  return found;
}
