/** The operations that the pages of real clients call first (spec 08 C8). */
import { expect, it } from 'vitest';
import { buildRouteTable } from '../../src/rest/route-table.ts';
import { appRouter } from '../../src/routers/root.ts';

const SERVED = new Set([...buildRouteTable(appRouter)].map(({ method, path }) => `${method} ${path}`));

it.each([
  'POST /miniapp/subscription',
  'POST /miniapp/payments/methods',
  'POST /miniapp/subscription/settings',
  'GET /stats/overview',
  'GET /stats/full',
  'GET /cabinet/subscription/app-config',
])('08 C8: %s is served', (operation) => {
  expect(SERVED).toContain(operation);
});

// Their modules come later in the order of docs/architecture.md; each becomes a line above with its group.
it.todo('08 C8: /cabinet/branding/* is served');
it.todo('08 C8: /cabinet/info/* is served');
it.todo('08 C8: /cabinet/admin/payment-methods is served');
