import type { App } from '../../core/app.ts';
import { findSetting } from './repo.ts';

/**
 * A switch that another feature stores beside the settings, under a key that the catalogue does not have (spec 05 section 14): on where the
 * stored text is `true` in any case, else off.
 */
export async function readSwitch(app: App, key: string): Promise<boolean> {
  return (await findSetting(app.db, key))?.value?.toLowerCase() === 'true';
}
