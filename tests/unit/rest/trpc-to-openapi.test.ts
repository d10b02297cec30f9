import { generateOpenApiDocument } from 'trpc-to-openapi';
import { expect, test } from 'vitest';
import { buildRouteTable } from '../../../src/rest/route-table.ts';
import { appRouter } from '../../../src/routers/root.ts';
import { schemaOf } from '../../../src/routers/wire.ts';

type Parser = Parameters<typeof schemaOf>[0];
type Definition = { inputs: Parser[]; output?: Parser };

/** The procedures with the wire schemas in place of the codec's parsers: trpc-to-openapi reads zod schemas only. */
function proceduresWithSchemas() {
  const procedures = appRouter._def.procedures as unknown as Record<string, { _def: Definition }>;
  const withSchemas = ([path, { _def }]: [string, { _def: Definition }]) => {
    const output = _def.output && schemaOf(_def.output);
    return [path, { _def: { ..._def, inputs: _def.inputs.map(schemaOf), output } }];
  };
  return Object.fromEntries(Object.entries(procedures).map(withSchemas));
}

test('tools that know trpc-to-openapi read our metadata and wire schemas: the same operations at the same places', () => {
  const router = { _def: { ...appRouter._def, procedures: proceduresWithSchemas() } };
  const document = generateOpenApiDocument(router as never, { title: 'test', version: '0', baseUrl: 'http://localhost' });
  const theirs = Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    Object.keys(item ?? {}).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const ours = buildRouteTable(appRouter).map((route) => `${route.method} ${route.path}`);
  expect(theirs.sort()).toEqual(ours.sort());
});
