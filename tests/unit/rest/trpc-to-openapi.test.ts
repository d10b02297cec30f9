import { generateOpenApiDocument } from 'trpc-to-openapi';
import { expect, test } from 'vitest';
import { buildRouteTable } from '../../../src/rest/route-table.ts';
import { appRouter } from '../../../src/routers/root.ts';

test('tools that know trpc-to-openapi read our metadata as it is: the same operations at the same places', () => {
  const document = generateOpenApiDocument(appRouter as never, { title: 'test', version: '0', baseUrl: 'http://localhost' });
  const theirs = Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    Object.keys(item ?? {}).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const ours = buildRouteTable(appRouter).map((route) => `${route.method} ${route.path}`);
  expect(theirs.sort()).toEqual(ours.sort());
});
