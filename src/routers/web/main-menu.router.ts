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
import { SuccessResponse } from '../shared.schemas.ts';
import { auditedWebProcedure, router, webProcedure } from '../trpc.ts';
import { fromWire, toWire, withBody } from '../wire.ts';
import {
  MainMenuButtonCreateRequest,
  MainMenuButtonListResponse,
  MainMenuButtonPath,
  MainMenuButtonResponse,
  MainMenuButtonUpdateRequest,
  MainMenuPageQuery,
  UserMessageCreateRequest,
  UserMessageListQuery,
  UserMessageListResponse,
  UserMessagePath,
  UserMessageResponse,
  UserMessageUpdateRequest,
} from './main-menu.schemas.ts';

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
