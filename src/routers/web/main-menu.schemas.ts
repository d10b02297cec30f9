import { z } from 'zod';
import { Timestamp } from '../shared.schemas.ts';

/** Contract group `main-menu` (spec 05 section 6). Blank texts and addresses are checked in the domain. */

const ActionType = z.enum(['url', 'mini_app']);
const Visibility = z.enum(['all', 'admins', 'subscribers']);

export const MainMenuPageQuery = z.object({
  limit: z.int().min(1).max(200).default(50).describe('Greatest number of records in the answer.'),
  offset: z.int().min(0).default(0).describe('Number of records to skip.'),
});

export const MainMenuButtonPath = z.object({ button_id: z.int().describe('Id of the button.') });

export const MainMenuButtonCreateRequest = z
  .object({
    text: z.string().min(1).max(64).describe('Text of the button. Trimmed.'),
    action_type: ActionType.describe('How the address is opened: `url` in a browser, `mini_app` inside the messenger.'),
    action_value: z
      .string()
      .min(1)
      .max(1024)
      .describe('Address that the button opens: http or https, for a mini app https only. Trimmed.'),
    visibility: Visibility.default('all').describe(
      'Who sees the button: `all`, `admins`, or `subscribers` with access at the moment.',
    ),
    is_active: z.boolean().default(true).describe('Whether it is active; an inactive record remains stored but has no effect.'),
    display_order: z
      .int()
      .min(0)
      .nullish()
      .describe('Place in the menu; null for after the last one. Equal numbers are allowed.'),
  })
  .meta({
    id: 'MainMenuButtonCreateRequest',
    example: { text: '📣 News', action_type: 'url', action_value: 'https://example.com/news' },
  });

export const MainMenuButtonUpdateRequest = z
  .object({
    text: z.string().min(1).max(64).nullish().describe('Text of the button, trimmed; null leaves it unchanged.'),
    action_type: ActionType.nullish().describe(
      'How the address is opened: `url` in a browser, `mini_app` inside the messenger; null leaves it unchanged.',
    ),
    action_value: z
      .string()
      .min(1)
      .max(1024)
      .nullish()
      .describe('Address that the button opens: http or https, for a mini app https only; null leaves it unchanged.'),
    visibility: Visibility.nullish().describe(
      'Who sees the button: `all`, `admins`, or `subscribers` with access at the moment; null leaves it unchanged.',
    ),
    is_active: z.boolean().nullish().describe('Whether it is active; an inactive record remains stored but has no effect.'),
    display_order: z.int().min(0).nullish().describe('Place in the menu; null leaves it unchanged.'),
  })
  .meta({
    id: 'MainMenuButtonUpdateRequest',
    example: { text: 'News', action_type: 'url', action_value: 'https://example.com/news', visibility: 'all' },
  });

export const MainMenuButtonResponse = z
  .object({
    id: z.int().describe('Id of the link of the main menu.'),
    text: z.string().describe('Text of the button.'),
    action_type: ActionType.describe('How the address is opened: `url` in a browser, `mini_app` inside the messenger.'),
    action_value: z.string().describe('Address that the button opens: http or https, for a mini app https only. Trimmed.'),
    visibility: Visibility.describe('Who sees the button: `all`, `admins`, or `subscribers` with access at the moment.'),
    is_active: z.boolean().describe('Whether it is active; an inactive record remains stored but has no effect.'),
    display_order: z.int().describe('Place in the list; smaller numbers come first.'),
    created_at: Timestamp.describe('When the link of the main menu was created (UTC).'),
    updated_at: Timestamp.describe('When the record was last changed (UTC).'),
  })
  .meta({ id: 'MainMenuButtonResponse' });

const page = {
  total: z.int().describe('Number of links of the main menu, on all pages.'),
  limit: z.int().describe('Page size that was applied.'),
  offset: z.int().describe('Number of records skipped before this page.'),
};

export const MainMenuButtonListResponse = z
  .object({
    items: MainMenuButtonResponse.array().describe(
      'A page of links of the main menu, inactive ones too, in the order in which they are shown.',
    ),
    ...page,
  })
  .meta({ id: 'MainMenuButtonListResponse' });

export const UserMessageListQuery = MainMenuPageQuery.extend({
  include_inactive: z.boolean().default(true).describe('Whether inactive records are listed too.'),
});

export const UserMessagePath = z.object({ message_id: z.int().describe('Id of the message.') });

export const UserMessageCreateRequest = z
  .object({
    message_text: z
      .string()
      .min(1)
      .max(4000)
      .describe(
        "Text in the messenger's HTML (`b`, `i`, `u`, `s`, `code`, `pre`, `a`, `blockquote`, spoilers and emoji of the messenger); escaped tags count as tags. At most 4096 characters without tags. Trimmed.",
      ),
    is_active: z.boolean().default(true).describe('Whether it is active; an inactive record remains stored but has no effect.'),
    sort_order: z.int().min(0).default(0).describe('A number of your own; it orders nothing.'),
  })
  .meta({ id: 'UserMessageCreateRequest', example: { message_text: '<b>New servers</b> are online' } });

export const UserMessageUpdateRequest = z
  .object({
    message_text: z
      .string()
      .min(1)
      .max(4000)
      .nullish()
      .describe(
        "Text in the messenger's HTML (`b`, `i`, `u`, `s`, `code`, `pre`, `a`, `blockquote`, spoilers and emoji of the messenger); escaped tags count as tags. At most 4096 characters without tags. Null leaves it unchanged.",
      ),
    is_active: z.boolean().nullish().describe('Whether it is active; an inactive record remains stored but has no effect.'),
    sort_order: z.int().min(0).nullish().describe('A number of your own; it orders nothing. Null leaves it unchanged.'),
  })
  .meta({ id: 'UserMessageUpdateRequest', example: { message_text: 'Servers in Amsterdam are back.', is_active: true } });

export const UserMessageResponse = z
  .object({
    id: z.int().describe('Id of the message of the main menu.'),
    message_text: z.string().describe('Text of the message as it was written.'),
    is_active: z.boolean().describe('Whether it is active; an inactive record remains stored but has no effect.'),
    sort_order: z.int().describe('A number of your own; it orders nothing.'),
    created_by: z.int().nullable().describe('Id of the user who wrote the message; null for one that came with an API token.'),
    created_at: Timestamp.describe('When the message of the main menu was created (UTC).'),
    updated_at: Timestamp.describe('When the record was last changed (UTC).'),
  })
  .meta({ id: 'UserMessageResponse' });

export const UserMessageListResponse = z
  .object({
    items: UserMessageResponse.array().describe('A page of messages of the main menu, newest first.'),
    ...page,
    total: page.total.describe('Number of messages of the main menu that match the filters, on all pages.'),
  })
  .meta({ id: 'UserMessageListResponse' });
