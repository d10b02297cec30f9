import { expect, test } from 'vitest';
import { buildRouteTable } from '../../../src/rest/route-table.ts';
import { SERVICE_TITLE, servedDocument, servedOperations } from '../../../src/rest/served-document.ts';
import { buildServiceDocument } from '../../../src/rest/service-document.ts';
import { appRouter } from '../../../src/routers/root.ts';

test('the written document is that of the sources, and the routes are its operations', async () => {
  const { document, routes } = buildServiceDocument();
  expect(JSON.parse(await servedDocument(SERVICE_TITLE))).toEqual(JSON.parse(JSON.stringify(document)));
  const served = buildRouteTable(appRouter, servedOperations());
  expect(served.map(({ method, path, procedurePath }) => [method, path, procedurePath])).toEqual(
    routes.map(({ method, path, procedurePath }) => [method, path, procedurePath]),
  );
  expect(served.length).toBeGreaterThanOrEqual(711);
});

test('the title of the document is the one that the service has, whatever is in it', async () => {
  const title = 'A "title" of $& and $1 \\';
  const { info } = JSON.parse(await servedDocument(title));
  expect([info.title, info.version]).toEqual([title, '1.0.0']);
});

test('the service does not start with a document of another state of the sources', () => {
  const [first, ...others] = servedOperations();
  expect(() => buildRouteTable(appRouter, others)).toThrow(`of another state of the router, see ${first!.operationId}.`);
  expect(() => buildRouteTable(appRouter, [...others, { ...first!, operationId: 'web_renamed' }])).toThrow('see web_renamed.');
  expect(() => buildRouteTable(appRouter, [...others, { ...first!, path: '/another' }])).toThrow(`see ${first!.operationId}.`);
});
