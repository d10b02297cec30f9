import { z } from 'zod';
import { SettingPath } from '../web/settings.schemas.ts';
import { withBody } from '../wire.ts';

/** Contract group `Admin Settings` (spec 06 section 6.3). */

export const CabinetAdminSettingsSettingCategorySummary = z
  .object({ key: z.string(), label: z.string(), description: z.string().default(''), items: z.int() })
  .meta({ id: 'CabinetAdminSettingsSettingCategorySummary' });

const CategoryRef = z.object({ key: z.string(), label: z.string() }).meta({ id: 'CabinetAdminSettingsSettingCategoryRef' });

const Choice = z
  .object({ value: z.unknown(), label: z.string(), description: z.string().nullish() })
  .meta({ id: 'CabinetAdminSettingsSettingChoice' });

const SettingHint = z
  .object({
    description: z.string().default(''),
    format: z.string().default(''),
    example: z.string().default(''),
    warning: z.string().default(''),
  })
  .meta({ id: 'SettingHint' });

export const CabinetAdminSettingsSettingDefinition = z
  .object({
    key: z.string(),
    name: z.string(),
    category: CategoryRef,
    type: z.string(),
    is_optional: z.boolean(),
    current: z.unknown().optional(),
    original: z.unknown().optional(),
    has_override: z.boolean(),
    read_only: z.boolean().default(false),
    choices: Choice.array().default([]),
    hint: SettingHint.nullish(),
  })
  .meta({ id: 'CabinetAdminSettingsSettingDefinition' });

/** `null` is a value; a missing field is refused. */
export const CabinetAdminSettingsSettingUpdateRequest = z
  .object({ value: z.unknown() })
  .meta({ id: 'CabinetAdminSettingsSettingUpdateRequest', example: { value: 10 } });

export const AdminSettingUpdateInput = withBody(SettingPath, CabinetAdminSettingsSettingUpdateRequest);
