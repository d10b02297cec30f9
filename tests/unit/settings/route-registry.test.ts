import { expect, it } from 'vitest';
import { RouteRegistry } from '../../../src/composition/outside-systems.ts';

it.each([
  ['/users/:user_id', ['/users/5', '/users/a.b/'], ['/users', '/users/5/balance', '/usersX5']],
  ['/polls/:id.csv', ['/polls/5.csv'], ['/polls/5', '/polls/5xcsv']],
  ['/v1::batch', ['/v1:batch'], ['/v1', '/v1::batch']],
  ['/sandbox/*', ['/sandbox/a', '/sandbox/a/b'], ['/sandboxes']],
  ['/docs', ['/docs', '/docs/'], ['/Docs', '/docs/x', '/']],
])('%s answers at %j and not at %j', (url, taken, free) => {
  const routes = new RouteRegistry();
  routes.add(url);
  expect(taken.filter((path) => !routes.isTaken(path))).toEqual([]);
  expect(free.filter((path) => routes.isTaken(path))).toEqual([]);
});

it('a route of callbacks is free for the setting of these callbacks only', () => {
  const routes = new RouteRegistry();
  routes.add('/messenger-webhook', 'WEBHOOK_PATH');
  expect(routes.isTaken('/messenger-webhook', 'WEBHOOK_PATH')).toBe(false);
  expect(routes.isTaken('/messenger-webhook', 'WATA_WEBHOOK_PATH')).toBe(true);
  expect(routes.isTaken('/messenger-webhook')).toBe(true);
});
