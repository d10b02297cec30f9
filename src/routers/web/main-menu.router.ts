import { z } from 'zod';
import {
  buttonNotFound,
  createMainMenuButton,
  createUserMessage,
  deleteMainMenuButton,
  deleteUserMessage,
  listMainMenuButtons,
  listUserMessages,
  MESSENGER_TEXT_REFUSALS,
  messageNotFound,
  toggleUserMessage,
  updateMainMenuButton,
  updateUserMessage,
} from '../../domain/content/chat-texts/chat-menu.ts';
import { SuccessResponse, Timestamp } from '../shared.schemas.ts';
import { auditedWebProcedure, router, webProcedure } from '../trpc.ts';
import { fromWire, toWire, withBody } from '../wire.ts';

/** Contract group `main-menu`. Blank texts and addresses are checked in the domain. */

const ActionType = z.enum(['url', 'mini_app']);
const Visibility = z.enum(['all', 'admins', 'subscribers']);

const MainMenuPageQuery = z.object({
  limit: z.int().min(1).max(200).default(50).describe('Greatest number of records in the answer.'),
  offset: z.int().min(0).default(0).describe('Number of records to skip.'),
});

const MainMenuButtonPath = z.object({ button_id: z.int().describe('Id of the button.') });

const MainMenuButtonCreateRequest = z
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
    is_active: z.boolean().default(true).describe('Whether the main menu is to show the button; lists name an inactive one too.'),
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

const MainMenuButtonUpdateRequest = z
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
    is_active: z.boolean().nullish().describe('Whether the main menu is to show the button; null leaves it unchanged.'),
    display_order: z.int().min(0).nullish().describe('Place in the menu; null leaves it unchanged.'),
  })
  .meta({
    id: 'MainMenuButtonUpdateRequest',
    example: { text: 'News', action_type: 'url', action_value: 'https://example.com/news', visibility: 'all' },
  });

const MainMenuButtonResponse = z
  .object({
    id: z.int().describe('Id of the link of the main menu.'),
    text: z.string().describe('Text of the button.'),
    action_type: ActionType.describe('How the address is opened: `url` in a browser, `mini_app` inside the messenger.'),
    action_value: z.string().describe('Address that the button opens: http or https, for a mini app https only. Trimmed.'),
    visibility: Visibility.describe('Who sees the button: `all`, `admins`, or `subscribers` with access at the moment.'),
    is_active: z.boolean().describe('Whether the main menu is to show the button; lists name an inactive one too.'),
    display_order: z.int().describe('Place in the list; smaller numbers come first.'),
    created_at: Timestamp.describe('When the link of the main menu was created (UTC).'),
    updated_at: Timestamp.describe('When the link of the main menu was last changed (UTC).'),
  })
  .meta({ id: 'MainMenuButtonResponse' });

const page = {
  total: z.int().describe('Number of links of the main menu, on all pages.'),
  limit: z.int().describe('Page size that was applied.'),
  offset: z.int().describe('Number of records skipped before this page.'),
};

const MainMenuButtonListResponse = z
  .object({
    items: MainMenuButtonResponse.array().describe(
      'A page of links of the main menu, inactive ones too, in the order in which they are shown.',
    ),
    ...page,
  })
  .meta({ id: 'MainMenuButtonListResponse' });

const UserMessageListQuery = MainMenuPageQuery.extend({
  include_inactive: z.boolean().default(true).describe('Whether inactive records are listed too.'),
});

const UserMessagePath = z.object({ message_id: z.int().describe('Id of the message.') });

const UserMessageCreateRequest = z
  .object({
    message_text: z
      .string()
      .min(1)
      .max(4000)
      .describe(
        "Text in the messenger's HTML (`b`, `i`, `u`, `s`, `code`, `pre`, `a`, `blockquote`, spoilers and emoji of the messenger); escaped tags count as tags. At most 4096 characters without tags. Trimmed.",
      ),
    is_active: z
      .boolean()
      .default(true)
      .describe(
        'Whether lists with `include_inactive` false contain the message. The service itself sends none of these messages.',
      ),
    sort_order: z.int().min(0).default(0).describe('A number of your own; it orders nothing.'),
  })
  .meta({ id: 'UserMessageCreateRequest', example: { message_text: '<b>New servers</b> are online' } });

const UserMessageUpdateRequest = z
  .object({
    message_text: z
      .string()
      .min(1)
      .max(4000)
      .nullish()
      .describe(
        "Text in the messenger's HTML (`b`, `i`, `u`, `s`, `code`, `pre`, `a`, `blockquote`, spoilers and emoji of the messenger); escaped tags count as tags. At most 4096 characters without tags. Null leaves it unchanged.",
      ),
    is_active: z
      .boolean()
      .nullish()
      .describe('Whether lists with `include_inactive` false contain the message; null leaves it unchanged.'),
    sort_order: z.int().min(0).nullish().describe('A number of your own; it orders nothing. Null leaves it unchanged.'),
  })
  .meta({ id: 'UserMessageUpdateRequest', example: { message_text: 'Servers in Amsterdam are back.', is_active: true } });

const UserMessageResponse = z
  .object({
    id: z.int().describe('Id of the message of the main menu.'),
    message_text: z.string().describe('Text of the message as it was written.'),
    is_active: z
      .boolean()
      .describe(
        'Whether lists with `include_inactive` false contain the message. The service itself sends none of these messages.',
      ),
    sort_order: z.int().describe('A number of your own; it orders nothing.'),
    created_by: z.int().nullable().describe('Id of the user who wrote the message; null for one that came with an API token.'),
    created_at: Timestamp.describe('When the message of the main menu was created (UTC).'),
    updated_at: Timestamp.describe('When the message was last changed (UTC).'),
  })
  .meta({ id: 'UserMessageResponse' });

const UserMessageListResponse = z
  .object({
    items: UserMessageResponse.array().describe('A page of messages of the main menu, newest first.'),
    ...page,
    total: page.total.describe('Number of messages of the main menu that match the filters, on all pages.'),
  })
  .meta({ id: 'UserMessageListResponse' });

const tags: [string] = ['main-menu'];
const buttons = '/main-menu/buttons';
const oneButton = `${buttons}/{button_id}` as const;
const messages = '/main-menu/messages';
const oneMessage = `${messages}/{message_id}` as const;

export const mainMenuRouter = router({
  listButtons: webProcedure
    .meta({
      openapi: { method: 'GET', path: buttons, tags, summary: 'Links of the main menu' },
      description: 'Lists the links of the main menu in the order in which they are shown, inactive ones too.',
    })
    .input(fromWire(MainMenuPageQuery))
    .output(toWire(MainMenuButtonListResponse))
    .query(async ({ ctx, input }) => ({ ...(await listMainMenuButtons(ctx.app, input)), ...input })),

  createButton: auditedWebProcedure('main_menu:create')
    .meta({
      openapi: { method: 'POST', path: buttons, tags, summary: 'Add a link' },
      description:
        'Adds a link to the main menu of the chat. It is shown only in the default menu, not in a menu layout or the menu of the cabinet.',
    })
    .input(fromWire(MainMenuButtonCreateRequest))
    .output(toWire(MainMenuButtonResponse))
    .mutation(({ ctx, input }) => createMainMenuButton(ctx.app, input)),

  updateButton: auditedWebProcedure('main_menu:edit')
    .meta({
      openapi: { method: 'PATCH', path: oneButton, tags, summary: 'Change a link' },
      description:
        'Changes the given fields of a link. Kind and address are checked together, also when only one of them is sent.',
      refuses: [buttonNotFound],
    })
    .input(fromWire(withBody(MainMenuButtonPath, MainMenuButtonUpdateRequest)))
    .output(toWire(MainMenuButtonResponse))
    .mutation(({ ctx, input: { buttonId, ...changes } }) => updateMainMenuButton(ctx.app, buttonId, changes)),

  deleteButton: auditedWebProcedure('main_menu:delete')
    .meta({
      openapi: { method: 'DELETE', path: oneButton, tags, summary: 'Delete a link' },
      description: 'Deletes a link.',
      refuses: [buttonNotFound],
    })
    .input(fromWire(MainMenuButtonPath))
    .output(SuccessResponse)
    .mutation(async ({ ctx, input }) => {
      await deleteMainMenuButton(ctx.app, input.buttonId);
      return { success: true as const };
    }),

  listMessages: webProcedure
    .meta({
      openapi: { method: 'GET', path: messages, tags, summary: 'Messages of the main menu' },
      description: 'Lists the messages that the main menu of the chat may show, newest first.',
    })
    .input(fromWire(UserMessageListQuery))
    .output(toWire(UserMessageListResponse))
    .query(async ({ ctx, input }) => {
      const { limit, offset } = input;
      return { ...(await listUserMessages(ctx.app, input)), limit, offset };
    }),

  createMessage: auditedWebProcedure('main_menu:create')
    .meta({
      openapi: { method: 'POST', path: messages, tags, summary: 'Add a message' },
      description:
        'Adds a message. The main menu shows one of the active messages, drawn anew each time. What the messenger would refuse is refused here.',
      refuses: [...MESSENGER_TEXT_REFUSALS],
    })
    .input(fromWire(UserMessageCreateRequest))
    .output(toWire(UserMessageResponse))
    .mutation(({ ctx, input }) => createUserMessage(ctx.app, input, ctx.language)),

  updateMessage: auditedWebProcedure('main_menu:edit')
    .meta({
      openapi: { method: 'PATCH', path: oneMessage, tags, summary: 'Change a message' },
      description: 'Changes the given fields of a message. What the messenger would refuse is refused here.',
      refuses: [...MESSENGER_TEXT_REFUSALS, messageNotFound],
    })
    .input(fromWire(withBody(UserMessagePath, UserMessageUpdateRequest)))
    .output(toWire(UserMessageResponse))
    .mutation(({ ctx, input: { messageId, ...changes } }) => updateUserMessage(ctx.app, messageId, changes, ctx.language)),

  deleteMessage: auditedWebProcedure('main_menu:delete')
    .meta({
      openapi: { method: 'DELETE', path: oneMessage, tags, summary: 'Delete a message' },
      description: 'Deletes a message.',
      refuses: [messageNotFound],
    })
    .input(fromWire(UserMessagePath))
    .output(SuccessResponse)
    .mutation(async ({ ctx, input }) => {
      await deleteUserMessage(ctx.app, input.messageId);
      return { success: true as const };
    }),

  toggleMessage: auditedWebProcedure('main_menu:edit')
    .meta({
      openapi: { method: 'POST', path: `${oneMessage}/toggle`, tags, summary: 'Switch a message on or off' },
      description: 'Switches a message on or off: each call changes it.',
      refuses: [messageNotFound],
    })
    .input(fromWire(UserMessagePath))
    .output(toWire(UserMessageResponse))
    .mutation(({ ctx, input }) => toggleUserMessage(ctx.app, input.messageId)),
});
