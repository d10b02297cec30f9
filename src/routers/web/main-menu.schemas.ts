import { z } from 'zod';
import { Moment } from '../shared.schemas.ts';

/** Contract group `main-menu` (spec 05 section 6). Blank texts and addresses are checked in the domain. */

const ActionType = z.enum(['url', 'mini_app']);
const Visibility = z.enum(['all', 'admins', 'subscribers']);

export const MainMenuPageQuery = z.object({
  limit: z.int().min(1).max(200).default(50),
  offset: z.int().min(0).default(0),
});

export const MainMenuButtonPath = z.object({ button_id: z.int() });

export const MainMenuButtonCreateRequest = z
  .object({
    text: z.string().min(1).max(64),
    action_type: ActionType,
    action_value: z.string().min(1).max(1024),
    visibility: Visibility.default('all'),
    is_active: z.boolean().default(true),
    display_order: z.int().min(0).nullish(),
  })
  .meta({
    id: 'MainMenuButtonCreateRequest',
    example: { text: '📣 News', action_type: 'url', action_value: 'https://example.com/news' },
  });

export const MainMenuButtonUpdateRequest = z
  .object({
    text: z.string().min(1).max(64).nullish(),
    action_type: ActionType.nullish(),
    action_value: z.string().min(1).max(1024).nullish(),
    visibility: Visibility.nullish(),
    is_active: z.boolean().nullish(),
    display_order: z.int().min(0).nullish(),
  })
  .meta({
    id: 'MainMenuButtonUpdateRequest',
    example: { text: 'News', action_type: 'url', action_value: 'https://example.com/news', visibility: 'all' },
  });

export const MainMenuButtonResponse = z
  .object({
    id: z.int(),
    text: z.string(),
    action_type: ActionType,
    action_value: z.string(),
    visibility: Visibility,
    is_active: z.boolean(),
    display_order: z.int(),
    created_at: Moment,
    updated_at: Moment,
  })
  .meta({ id: 'MainMenuButtonResponse' });

const page = { total: z.int(), limit: z.int(), offset: z.int() };

export const MainMenuButtonListResponse = z
  .object({ items: MainMenuButtonResponse.array(), ...page })
  .meta({ id: 'MainMenuButtonListResponse' });

export const UserMessageListQuery = MainMenuPageQuery.extend({ include_inactive: z.boolean().default(true) });

export const UserMessagePath = z.object({ message_id: z.int() });

export const UserMessageCreateRequest = z
  .object({
    message_text: z.string().min(1).max(4000),
    is_active: z.boolean().default(true),
    sort_order: z.int().min(0).default(0),
  })
  .meta({ id: 'UserMessageCreateRequest', example: { message_text: '<b>New servers</b> are online' } });

export const UserMessageUpdateRequest = z
  .object({
    message_text: z.string().min(1).max(4000).nullish(),
    is_active: z.boolean().nullish(),
    sort_order: z.int().min(0).nullish(),
  })
  .meta({ id: 'UserMessageUpdateRequest', example: { message_text: 'Servers in Amsterdam are back.', is_active: true } });

export const UserMessageResponse = z
  .object({
    id: z.int(),
    message_text: z.string(),
    is_active: z.boolean(),
    sort_order: z.int(),
    created_by: z.int().nullable(),
    created_at: Moment,
    updated_at: Moment,
  })
  .meta({ id: 'UserMessageResponse' });

export const UserMessageListResponse = z
  .object({ items: UserMessageResponse.array(), ...page })
  .meta({ id: 'UserMessageListResponse' });
