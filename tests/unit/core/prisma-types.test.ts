import { expectTypeOf, test } from 'vitest';
import type { PrismaClient } from '../../../src/generated/prisma/client.ts';

/** Checked by the compiler (`npm run check:types`): Prisma's own types accept fields that the model does not have (scripts/db-generate.mjs). */
test('a write with a field that the model does not have does not compile', () => {
  const where = { id: 1 };
  const row = { ticketId: 1, userId: 1, notificationType: 'new_ticket', message: '' };
  const writes = ({ ticketNotification: table }: PrismaClient, given: { renamed?: number }) => [
    table.create({ data: row }),
    table.updateMany({ where, data: { isRead: true } }),
    // @ts-expect-error create
    table.create({ data: { ...row, renamed: true } }),
    // @ts-expect-error createMany
    table.createMany({ data: [{ ...row, renamed: true }] }),
    // @ts-expect-error update
    table.update({ where, data: { renamed: true } }),
    // @ts-expect-error updateMany
    table.updateMany({ where, data: { isRead: true, ...given } }),
    // @ts-expect-error upsert
    table.upsert({ where, create: { ...row, renamed: true }, update: {} }),
  ];
  expectTypeOf(writes).toBeFunction();
});
