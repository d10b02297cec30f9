import { describe, expect, it } from 'vitest';
import { tokenize } from '../../../scripts/checks/typescript-lexer.ts';
import { countInDocument } from '../../../scripts/measure/described-parts.ts';
import { findDuplicateBlocks } from '../../../scripts/measure/duplicate-blocks.ts';
import { countFieldPlaces, median } from '../../../scripts/measure/field-places.ts';
import { countMappingLines, mappingKind } from '../../../scripts/measure/mapping-lines.ts';
import { countReachedLines } from '../../../scripts/measure/reached-lines.ts';
import { procedures, tracePurchase } from '../../../scripts/measure/read-operations.ts';

describe('mappingKind', () => {
  it.each([
    ['  userId: row.user_id,', false, 'rowToCamel'],
    ['  createdAt: new Date(row.created_at),', false, 'rowToCamel'],
    ['  status: row.status,', false, 'rowToCamel'],
    ['  user_id: ticket.userId,', true, 'camelToWire'],
    ['  user_id: ticket.owner!.userId,', false, 'camelToWire'],
    ['  title: ticket.title,', true, 'camelToWire'],
    ['  userId: input.user_id,', true, 'wireToCamel'],
    ['  title: input.title,', true, 'wireToCamel'],
  ])('%s', (line, isAboveDomain, kind) => {
    expect(mappingKind(line, isAboveDomain)).toBe(kind);
  });

  it.each([
    '  ownerId: row.user_id,',
    '  user_id: number;',
    '  status: ticket.status,',
    '  userId: row.user_id + 1,',
    'call(row.user_id);',
  ])('%s is none', (line) => {
    expect(mappingKind(line, false)).toBe(null);
  });
});

it('counts the members of row interfaces', () => {
  const text = 'interface UserRow {\n  id: number;\n  name?: string;\n}\ninterface User {\n  id: number;\n}\n';
  expect(countMappingLines([{ path: 'src/domain/a.ts', text }]).rowInterfaces).toBe(2);
});

it('counts the places of a field that one schema answers', () => {
  const models = [{ name: 'A', table: 'as', file: 'a', contents: null, columns: new Map([['firstPart', 'first_part']]) }];
  const files = [
    { path: 'src/domain/a/types.ts', text: 'interface A {\n  firstPart: string;\n}' },
    { path: 'src/routers/a.router.ts', text: 'export const A = z.object({\n  first_part: z.string(),\n});' },
  ];
  expect(countFieldPlaces(files, models)).toEqual(new Map([['first_part', 3]]));
});

describe('median', () => {
  it('takes the lower of two in the middle, and null of nothing', () => {
    expect([median([3, 1, 2]), median([4, 1, 2, 3]), median([])]).toEqual([2, 2, null]);
  });
});

describe('findDuplicateBlocks', () => {
  const block = (from: number, to: number): string =>
    Array.from({ length: to - from }, (_, index) => `  step(${from + index});`).join('\n');

  it('finds the whole of a run once, without regard to blanks and comments', () => {
    const found = findDuplicateBlocks([
      { path: 'a.ts', text: `one();\n${block(0, 10)}` },
      { path: 'b.ts', text: `// a comment\n${block(0, 5)}\n\n${block(5, 10)}\nother();` },
    ]);
    expect(found).toEqual([{ lines: 10, first: { file: 'a.ts', line: 2 }, second: { file: 'b.ts', line: 2 } }]);
  });

  it('counts a chain of calls as one line, however it is wrapped', () => {
    const field = (name: number, text: string) => `  f${name}: z\n    .int()\n    .describe(\n      '${text}',\n    ),`;
    const fields = (count: number, text = 'Text') => Array.from({ length: count }, (_, at) => field(at, text)).join('\n');
    const found = (one: string, other: string) =>
      findDuplicateBlocks([
        { path: 'a.ts', text: one },
        { path: 'b.ts', text: other },
      ]).map(({ lines }) => lines);
    expect(found(fields(7), fields(7))).toEqual([]);
    expect(found(fields(8), fields(8))).toEqual([8]);
    expect(found(fields(8), fields(8, 'Another text'))).toEqual([]);
  });

  it('leaves shorter runs and imports alone', () => {
    const imports = "import {\n  a,\n  b,\n  c,\n  d,\n  e,\n  f,\n  g,\n  h,\n} from './x.ts';\n";
    expect(findDuplicateBlocks(['a.ts', 'b.ts'].map((path) => ({ path, text: imports + block(0, 7) })))).toEqual([]);
  });
});

it('reads the procedures of a router with the names that they use', () => {
  const source = `router({
    list: base.meta({ openapi: { path: '/a', query: 1 } }).output(List).query(async ({ ctx }) => toList(await listAll(ctx.app))),
    nested: router({ add: base.input(Draft).mutation(({ input }) => add(input)) }),
  })`;
  const found = procedures(tokenize(source));
  expect(found.map(({ name, isRead }) => [name, isRead])).toEqual([
    ['list', true],
    ['add', false],
  ]);
  expect([...found[0]!.words]).toEqual(expect.arrayContaining(['List', 'toList', 'listAll']));
  expect([...found[0]!.words]).not.toContain('Draft');
});

it('follows a purchase through what is called, not through types', () => {
  const domain = 'src/domain/subscriptions/';
  const files = [
    {
      path: 'src/routers/cabinet/subscription-purchase.router.ts',
      text: `import { purchaseTariff } from '../../domain/subscriptions/purchase-tariff.ts';
router({ purchaseTariff: base.mutation(({ ctx }) => purchaseTariff(ctx.app)) });`,
    },
    {
      path: `${domain}purchase-tariff.ts`,
      text: `import type { Order } from './order.ts';
import { completeSale } from './purchase/complete-sale.ts';
import { update } from './repo.ts';
export function purchaseTariff(order: Order) { return completeSale(order); }
export const other = () => update();`,
    },
    {
      path: `${domain}purchase/complete-sale.ts`,
      text: "export { writeSale as completeSale } from './repo.ts';",
    },
    { path: `${domain}purchase/repo.ts`, text: 'export const writeSale = () => 1;' },
  ];
  const isReached = (name: string) => tracePurchase('.', files).some((path) => path.endsWith(name));
  expect(['purchase-tariff.ts', 'complete-sale.ts', 'order.ts', 'subscriptions/repo.ts'].map(isReached)).toEqual([
    true,
    true,
    false,
    false,
  ]);
});

it('counts what a document leaves undescribed', () => {
  const document = {
    paths: { '/a': { get: { parameters: [{}, { description: 'x' }] }, post: { description: 'x' } } },
    components: {
      schemas: {
        A: {
          properties: {
            a: {},
            b: { description: 'x' },
            c: { $ref: '#/B' },
            d: { description: 'x', items: { properties: { e: {} } } },
          },
        },
      },
    },
  };
  expect(countInDocument(document)).toEqual({
    operations: 2,
    undescribedOperations: 1,
    undescribedParameters: 1,
    undescribedFields: 2,
  });
});

it('counts the lines of routers and of what they reach of the domain', () => {
  const files = [
    { path: 'src/routers/a.router.ts', text: "import { b } from '../domain/m/b.ts';\nuse(b);\n" },
    { path: 'src/domain/m/b.ts', text: "import type { C } from './c.ts';\nimport '../../core/d.ts';\nexport const b = 1;\n" },
    { path: 'src/domain/m/c.ts', text: "import { b } from './b.ts';\n" },
    { path: 'src/domain/m/job.ts', text: "import { b } from './b.ts';\nexport const job = b;\n" },
    { path: 'src/core/d.ts', text: 'export {};\n' },
  ];
  expect(countReachedLines(files)).toBe(2 + 3 + 1);
});
