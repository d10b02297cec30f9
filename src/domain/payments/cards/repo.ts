import type { Rows } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import { isRowId } from '../../../core/row-id.ts';

/** A card that the provider has stored (spec 03 section 5.2). */
export type SavedCard = Pick<Rows['SavedPaymentMethod'], 'id' | 'methodType' | 'cardLast4' | 'cardType' | 'title' | 'createdAt'>;

export function listActiveCards(db: Db, userId: number): Promise<SavedCard[]> {
  return db.prisma.savedPaymentMethod.findMany({
    where: { userId, isActive: true },
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
    take: 100,
    select: { id: true, methodType: true, cardLast4: true, cardType: true, title: true, createdAt: true },
  });
}

/** @returns false when the user has no such active card */
export async function deactivateCard(db: Db, userId: number, cardId: number, now: Date): Promise<boolean> {
  if (!isRowId(cardId)) return false;
  const { count } = await db.prisma.savedPaymentMethod.updateMany({
    where: { id: cardId, userId, isActive: true },
    data: { isActive: false, updatedAt: now },
  });
  return count > 0;
}
