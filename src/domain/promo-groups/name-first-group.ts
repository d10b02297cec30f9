import type { App } from '../../core/app.ts';
import { text } from '../messaging/texts.ts';
import { nameFirstGroup } from './record-repo.ts';

/**
 * Names the promo group of a new shop in its first language (spec 10 R5): migrations do not know the settings. A shop with users, or a group
 * that was changed, keeps its name.
 */
export function nameFirstPromoGroup(app: App): Promise<void> {
  return nameFirstGroup(app.db, text(app.settings.get('DEFAULT_LANGUAGE'), 'promo.first_group'));
}
