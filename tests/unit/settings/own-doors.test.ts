import { expect, it } from 'vitest';
import { OwnDoors } from '../../../src/composition/own-doors.ts';

it.each([
  ['/users/:user_id', ['/users/5', '/users/a.b/'], ['/users', '/users/5/balance', '/usersX5']],
  ['/polls/:id.csv', ['/polls/5.csv'], ['/polls/5', '/polls/5xcsv']],
  ['/v1::batch', ['/v1:batch'], ['/v1', '/v1::batch']],
  ['/sandbox/*', ['/sandbox/a', '/sandbox/a/b'], ['/sandboxes']],
  ['/docs', ['/docs', '/docs/'], ['/Docs', '/docs/x', '/']],
])('%s answers at %j and not at %j', (url, taken, free) => {
  const doors = new OwnDoors();
  doors.add(url);
  expect(taken.filter((path) => !doors.isTaken(path))).toEqual([]);
  expect(free.filter((path) => doors.isTaken(path))).toEqual([]);
});

it('a route of callbacks is free for their own setting only', () => {
  const doors = new OwnDoors();
  doors.add('/messenger-webhook', 'WEBHOOK_PATH');
  expect(doors.isTaken('/messenger-webhook', 'WEBHOOK_PATH')).toBe(false);
  expect(doors.isTaken('/messenger-webhook', 'WATA_WEBHOOK_PATH')).toBe(true);
  expect(doors.isTaken('/messenger-webhook')).toBe(true);
});
