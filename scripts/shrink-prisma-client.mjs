// Changes the generated Prisma client so that a process holds less of it in memory. Prisma's output keeps the query compiler three times:
// as the text of a module, as a string in base64, and compiled.
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const COMPILER = 'query_compiler.wasm';
const COMPILER_IMPORT =
  /const \{ wasm \} = await import\("(@prisma\/client\/runtime\/[\w.-]+)\.mjs"\)\s+return await decodeBase64AsWasm\(wasm\)/;
const GRAPH = /strings: JSON\.parse\((".*")\),\n\s+graph: "([\w-]+)"/;

/**
 * The compiler is read from a file beside the client, and the graph loses what only nested writes use.
 * @param {string} folder of the generated client, changed in place
 * @throws {Error} when Prisma generates another form
 */
export function shrinkPrismaClient(folder) {
  const file = join(folder, 'internal', 'class.ts');
  const text = readFileSync(file, 'utf8');
  const [whole, module] = COMPILER_IMPORT.exec(text) ?? [];
  const [, strings, graph] = GRAPH.exec(text) ?? [];
  if (whole === undefined || graph === undefined)
    throw new Error(`the generated Prisma client has another form: adjust ${import.meta.filename}`);
  const { wasm } = createRequire(import.meta.url)(`${module}.js`);
  writeFileSync(join(folder, 'internal', COMPILER), Buffer.from(wasm, 'base64'));
  const read = `const { readFile } = await import('node:fs/promises')
    return new WebAssembly.Module(await readFile(new URL('./${COMPILER}', import.meta.url)))`;
  writeFileSync(
    file,
    text.replace(whole, () => read).replace(graph, () => withoutNestedWrites(JSON.parse(JSON.parse(strings)), graph)),
  );
}

/**
 * Prisma walks this graph to find the values in the arguments of a query that become parameters of its cached plan. Two thirds of its
 * edges, 8 MiB in memory, belong to writes of a relation inside of another write (`data: { user: { connect: … } }`), of which the service has
 * none: it writes foreign keys. Without its edge such a write still works, but its values become a part of the key of the plan.
 * @param {string[]} strings names of fields and of roots
 * @param {string} graph in base64url, as @prisma/param-graph serialises it
 */
export function withoutNestedWrites(strings, graph) {
  const { inputs, outputs, roots } = readGraph(Buffer.from(graph, 'base64url'));
  const connect = strings.indexOf('connect');
  const isRelation = ({ child }) => child !== null && inputs[child].some(({ field }) => field === connect);
  const kept = inputs.map((edges) => edges.filter((edge) => !isRelation(edge)));
  // What is no longer reached from a root.
  const places = new Map();
  const reached = [];
  const reach = (node) => {
    if (node === null || places.has(node)) return;
    places.set(node, reached.length);
    reached.push(node);
  };
  for (const { args } of [...roots, ...outputs.flat()]) reach(args);
  for (const node of reached) for (const { child } of kept[node]) reach(child);
  const place = (node) => (node === null ? null : places.get(node));
  const moved = (edge) => ({ ...edge, args: place(edge.args) });
  return writeGraph({
    inputs: reached.map((node) => kept[node].map((edge) => ({ ...edge, child: place(edge.child) }))),
    outputs: outputs.map((edges) => edges.map(moved)),
    roots: roots.map(moved),
  }).toString('base64url');
}

function readGraph(bytes) {
  let offset = 0;
  const number = () => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[offset++];
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const optional = () => {
    const value = number();
    return value === 0 ? null : value - 1;
  };
  const mask = () => bytes[offset++] | (bytes[offset++] << 8);
  const list = (length, item) => Array.from({ length }, item);
  const [inputCount, outputCount, rootCount] = [number(), number(), number()];
  const input = () => ({ field: number(), mask: mask(), child: optional(), enumName: optional(), flags: bytes[offset++] });
  const output = () => ({ field: number(), args: optional(), output: optional() });
  return {
    inputs: list(inputCount, () => list(number(), input)),
    outputs: list(outputCount, () => list(number(), output)),
    roots: list(rootCount, output),
  };
}

function writeGraph({ inputs, outputs, roots }) {
  const bytes = [];
  const number = (value) => {
    let rest = value;
    for (; rest >= 0x80; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
    bytes.push(rest);
  };
  const optional = (value) => number(value === null ? 0 : value + 1);
  const output = ({ field, args, output: node }) => {
    number(field);
    optional(args);
    optional(node);
  };
  for (const nodes of [inputs, outputs, roots]) number(nodes.length);
  for (const edges of inputs) {
    number(edges.length);
    for (const { field, mask, child, enumName, flags } of edges) {
      number(field);
      bytes.push(mask & 0xff, mask >> 8);
      optional(child);
      optional(enumName);
      bytes.push(flags);
    }
  }
  for (const edges of outputs) {
    number(edges.length);
    for (const edge of edges) output(edge);
  }
  for (const root of roots) output(root);
  return Buffer.from(bytes);
}
