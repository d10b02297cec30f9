import { z } from 'zod';
import { withBody } from '../wire.ts';

/** Contract group `settings` (spec 06 section 6). */

export const SettingPath = z.object({ key: z.string() });

export const SettingListQuery = z.object({ category_key: z.string().nullish() });

export const SettingCategorySummary = z
  .object({ key: z.string(), label: z.string(), items: z.int() })
  .meta({ id: 'SettingCategorySummary' });

export const SettingCategoryRef = z.object({ key: z.string(), label: z.string() }).meta({ id: 'SettingCategoryRef' });

export const SettingChoice = z
  .object({ value: z.unknown(), label: z.string(), description: z.string().nullish() })
  .meta({ id: 'SettingChoice' });

export const SettingDefinition = z
  .object({
    key: z.string(),
    name: z.string(),
    category: SettingCategoryRef,
    type: z.string(),
    is_optional: z.boolean(),
    current: z.unknown().nullish(),
    original: z.unknown().nullish(),
    has_override: z.boolean(),
    read_only: z.boolean().default(false),
    choices: SettingChoice.array().default([]),
  })
  .meta({ id: 'SettingDefinition' });

/** `null` is a value; a missing field is refused. */
export const SettingUpdateRequest = z.object({ value: z.unknown() }).meta({ id: 'SettingUpdateRequest', example: { value: 10 } });

export const SettingUpdateInput = withBody(SettingPath, SettingUpdateRequest);
