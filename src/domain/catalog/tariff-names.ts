import type { App } from '../../core/app.ts';
import { isRowId } from '../../core/row-id.ts';

/** Active tariffs by name. */
export function listAllActiveTariffNames(app: App): Promise<{ id: number; name: string }[]> {
  return app.db.prisma.tariff.findMany({
    where: { isActive: true },
    select: { id: true, name: true },
    orderBy: [{ name: 'asc' }, { id: 'asc' }],
  });
}

/** Whether there is such a tariff, active or not. */
export async function tariffExists(app: App, id: number): Promise<boolean> {
  return isRowId(id) && (await app.db.prisma.tariff.count({ where: { id } })) > 0;
}
