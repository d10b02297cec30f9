import { expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { type Domain, fromWire, toWire } from '../../../src/routers/wire.ts';

const Item = z.object({ item_id: z.int(), paid_at: z.date().nullish(), last_24h: z.int().default(0) });
const Answer = z.object({
  user_name: z.string(),
  items: Item.array(),
  by_day: z.record(z.string(), Item),
  free_form: z.record(z.string(), z.unknown()),
  first_item: Item.nullable(),
});

test('an answer takes domain names at every depth and gives only what its schema names', () => {
  const at = new Date(0);
  const item = { itemId: 1, paidAt: at, last24h: 3, secret: 'x' };
  const answer = toWire(Answer).parse({
    userName: 'ann',
    items: [item],
    byDay: { '2026-01-01': item },
    freeForm: { keptAsIs: 1, also_kept: 2 },
    firstItem: null,
    passwordHash: 'x',
  });
  const wired = { item_id: 1, paid_at: at, last_24h: 3 };
  expect(answer).toEqual({
    user_name: 'ann',
    items: [wired],
    by_day: { '2026-01-01': wired },
    free_form: { keptAsIs: 1, also_kept: 2 },
    first_item: null,
  });
});

test('a request comes out under domain names, after its defaults', () => {
  expect(fromWire(Item).parse({ item_id: 5 })).toEqual({ itemId: 5, last24h: 0 });
  expect(() => fromWire(Item).parse({ itemId: 5 })).toThrow(z.ZodError);
});

test('absent and null stay apart', () => {
  expect(fromWire(Item).parse({ item_id: 5, paid_at: null })).toEqual({ itemId: 5, paidAt: null, last24h: 0 });
  expect(toWire(Item).parse({ itemId: 5 })).toEqual({ item_id: 5, last_24h: 0 });
});

test('a schema that contains itself is followed', () => {
  interface Node {
    node_name: string;
    sub_nodes: Node[];
  }
  const Node: z.ZodType<Node> = z.lazy(() => z.object({ node_name: z.string(), sub_nodes: Node.array() }));
  const tree = { nodeName: 'a', subNodes: [{ nodeName: 'b', subNodes: [] }] };
  expect(toWire(Node).parse(tree)).toEqual({ node_name: 'a', sub_nodes: [{ node_name: 'b', sub_nodes: [] }] });
});

test('the parts of a union are distinguished by all their fields', () => {
  const Either = z.union([z.object({ user_id: z.int() }), z.object({ email_address: z.string() })]);
  expect(toWire(Either).parse({ emailAddress: 'a@b.c' })).toEqual({ email_address: 'a@b.c' });
});

test('the discriminator selects the form: one name may stand for different things', () => {
  const Form = z.discriminatedUnion('sales_mode', [
    z.object({ sales_mode: z.literal('a'), all_items: z.object({ item_id: z.int() }).array() }),
    z.object({ sales_mode: z.enum(['b', 'c']), all_items: z.object({ max_count: z.int() }).nullable() }),
  ]);
  expect(toWire(Form).parse({ salesMode: 'a', allItems: [{ itemId: 1 }] })).toEqual({
    sales_mode: 'a',
    all_items: [{ item_id: 1 }],
  });
  expect(toWire(Form).parse({ salesMode: 'c', allItems: { maxCount: 2 } })).toEqual({
    sales_mode: 'c',
    all_items: { max_count: 2 },
  });
  expect(fromWire(Form).parse({ sales_mode: 'b', all_items: { max_count: 2 } })).toEqual({
    salesMode: 'b',
    allItems: { maxCount: 2 },
  });
  expect(() => toWire(Form).parse({ salesMode: 'd' as 'c', allItems: null })).toThrow(z.ZodError);
  expectTypeOf<Extract<Domain<z.input<typeof Form>>, { salesMode: 'a' }>['allItems']>().toEqualTypeOf<{ itemId: number }[]>();
});

test('types follow', () => {
  expectTypeOf<Domain<z.input<typeof Item>>>().toEqualTypeOf<{
    itemId: number;
    paidAt?: Date | null | undefined;
    last24h?: number | undefined;
  }>();
});
