import { allColumns } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import type { MainMenuButton, TextList, TextPage } from './types.ts';

const BUTTON = allColumns('MainMenuButton');
const MAX_ORDER = 2_147_483_647;

export type ButtonValues = Omit<MainMenuButton, 'id' | 'createdAt' | 'updatedAt'>;

/** Active and inactive buttons in the order in which they are shown. */
export async function listButtons(db: Db, { limit, offset }: TextPage): Promise<TextList<MainMenuButton>> {
  const [items, total] = await Promise.all([
    db.sql<MainMenuButton>(
      `SELECT ${BUTTON.of()} FROM main_menu_buttons ORDER BY display_order, id LIMIT $1::int OFFSET $2::bigint`,
      [limit, offset],
    ),
    db.prisma.mainMenuButton.count(),
  ]);
  return { items, total };
}

/** @param button without `displayOrder`: after the last one */
export async function insertButton(
  db: Db,
  button: Omit<ButtonValues, 'displayOrder'> & { displayOrder: number | null },
  now: Date,
): Promise<MainMenuButton> {
  const { text, actionType, actionValue, visibility, isActive, displayOrder } = button;
  const [row] = await db.sql<MainMenuButton>(
    `INSERT INTO main_menu_buttons (text, action_type, action_value, visibility, is_active, display_order, created_at, updated_at)
     SELECT $1, $2, $3, $4, $5::boolean, COALESCE($6::int, (SELECT LEAST(COALESCE(max(display_order), 0)::bigint + 1, ${MAX_ORDER})
       FROM main_menu_buttons)), $7::timestamptz, $7::timestamptz
     RETURNING ${BUTTON.of()}`,
    [text, actionType, actionValue, visibility, isActive, displayOrder, now],
  );
  return row!;
}

/** The button, locked until the transaction ends. */
export async function lockButton(db: Db, id: number): Promise<MainMenuButton | null> {
  const [row] = await db.sql<MainMenuButton>(`SELECT ${BUTTON.of()} FROM main_menu_buttons WHERE id = $1::bigint FOR UPDATE`, [
    id,
  ]);
  return row ?? null;
}

export async function updateButtonRow(db: Db, { id, ...button }: MainMenuButton): Promise<void> {
  await db.prisma.mainMenuButton.update({ where: { id }, data: button, select: { id: true } });
}

/** @returns what it was; null when there is no such button */
export async function deleteButtonRow(db: Db, id: number): Promise<MainMenuButton | null> {
  const [row] = await db.sql<MainMenuButton>(`DELETE FROM main_menu_buttons WHERE id = $1::bigint RETURNING ${BUTTON.of()}`, [
    id,
  ]);
  return row ?? null;
}
