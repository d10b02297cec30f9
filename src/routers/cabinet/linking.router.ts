import { z } from 'zod';
import { tooManyRequests } from '../../core/rate-limit.ts';
import {
  completeLinking,
  completeLinkingByState,
  LINKING_BY_STATE_REFUSES,
  LINKING_REFUSES,
  type LinkOutcome,
  linkMessenger,
  listLinkedProviders,
  MESSENGER_LINK_REFUSES,
  type MessengerProof,
  providerAlreadyLinked,
  startLinking,
  UNLINK_REFUSES,
  unlinkProvider,
} from '../../domain/identity/linking.ts';
import { providerUnavailable } from '../../domain/identity/oauth/sign-in-with-provider.ts';
import { INIT_DATA_EXAMPLE } from '../shared.schemas.ts';
import { cabinetProcedure, freshCabinetProcedure, router } from '../trpc.ts';
import { fromWire, toWire, withBody } from '../wire.ts';
import { limitByAddress, limitedProcedure } from './limited-procedure.ts';
import { OAuthProviderName, OAuthProviderPath, ProviderCallback } from './oauth.schemas.ts';

/** Contract group `Cabinet Account Linking`. */

const LinkedProvider = z
  .object({
    provider: z
      .string()
      .describe(
        'Name of the provider: `google`, `yandex`, `discord` or `vk`; in lists of linked accounts also `messenger` and `email`.',
      ),
    linked: z.boolean().describe('Whether this way to sign in belongs to the account.'),
    identifier: z.string().nullish().describe('Id or address at the provider; null when not linked.'),
  })
  .meta({ id: 'LinkedProvider' });

const LinkedProvidersResponse = z
  .object({ providers: LinkedProvider.array().describe('Providers in the order of display.') })
  .meta({ id: 'LinkedProvidersResponse' });

const LinkInitResponse = z
  .object({
    authorize_url: z.string().describe('Address to send the browser to.'),
    state: z.string().describe('Random text that links the answer of the provider to this request. Valid for 10 minutes, once.'),
  })
  .meta({ id: 'LinkInitResponse' });

const LinkCallbackRequest = ProviderCallback.extend({}).meta({
  id: 'LinkCallbackRequest',
  example: { code: '4/0AY0e-g7X', state: 'kq3V0cF1xZr8Yw5tB2nM7uLs' },
});

const LinkCallbackResponse = z
  .object({
    success: z
      .boolean()
      .describe('Whether the identity belongs to this account now; false where the accounts have to be merged first.'),
    message: z.string().nullish().describe('`linked` or `already_linked`; null when a merge is required.'),
    merge_required: z
      .boolean()
      .default(false)
      .describe('Whether the identity belongs to another account, so that the two must be merged.'),
    merge_token: z.string().nullish().describe('Token of the merge, valid for 30 minutes; null when no merge is needed.'),
  })
  .meta({ id: 'LinkCallbackResponse' });

const UnlinkResponse = z
  .object({ success: z.boolean().describe('Always true: a provider that cannot be unlinked is answered with an error status.') })
  .meta({ id: 'UnlinkResponse' });

const WIDGET_FIELDS = ['id', 'first_name', 'last_name', 'username', 'photo_url', 'auth_date', 'hash'] as const;

/** Exactly one proof: mini-app data, a token, or the widget's fields with id, auth_date and hash. */
const LinkMessengerRequest = z
  .object({
    init_data: z
      .string()
      .max(4096)
      .nullish()
      .describe('Signed launch data of the messenger mini-app; authenticates the user. Null when another form is used.'),
    id_token: z.string().max(4096).nullish().describe('OpenID Connect token of the messenger (RS256). Accepted once.'),
    id: z.int().nullish().describe('Messenger id of the user, as the login widget returned it. Required with the widget form.'),
    first_name: z.string().max(256).nullish().describe('First name; null when unknown.'),
    last_name: z.string().max(256).nullish().describe('Last name; null when unknown.'),
    username: z.string().max(256).nullish().describe('User name in the messenger, without `@`; null when the user has none.'),
    photo_url: z
      .string()
      .max(2048)
      .nullish()
      .describe('Address of the profile picture, as the login widget returned it; part of the signed data.'),
    auth_date: z
      .int()
      .nullish()
      .describe('Time of the sign-in as Unix seconds, as the login widget returned it; part of the signed data.'),
    hash: z.string().min(64).max(64).nullish().describe('Signature of the login widget over the other fields.'),
  })
  .superRefine((body, ctx) => {
    const isThere = (name: keyof typeof body) => body[name] !== null && body[name] !== undefined;
    const hasWidget = WIDGET_FIELDS.some(isThere);
    const proofs = [isThere('init_data'), isThere('id_token'), hasWidget].filter(Boolean).length;
    if (proofs !== 1) {
      ctx.addIssue({ code: 'custom', message: 'Provide exactly one of init_data, id_token or the login widget fields' });
    } else if (hasWidget && !(isThere('id') && isThere('auth_date') && isThere('hash'))) {
      ctx.addIssue({ code: 'custom', message: 'The login widget fields need id, auth_date and hash' });
    }
  })
  .meta({ id: 'LinkMessengerRequest', example: { init_data: INIT_DATA_EXAMPLE } });

const ServerCompleteRequest = ProviderCallback.extend({
  provider: OAuthProviderName.nullish().describe('Provider of the sign-in; null to take it from the state.'),
}).meta({
  id: 'ServerCompleteRequest',
  example: { code: '4/0AY0e-g7X', state: 'kq3V0cF1xZr8Yw5tB2nM7uLs', provider: 'google' },
});

const ServerCompleteResponse = LinkCallbackResponse.extend({
  success: LinkCallbackResponse.shape.success.describe(
    'Whether the provider is linked now; false where the accounts must be merged first.',
  ),
  provider: z
    .string()
    .describe(
      'Name of the provider: `google`, `yandex`, `discord` or `vk`; in lists of linked accounts also `messenger` and `email`.',
    ),
}).meta({
  id: 'ServerCompleteResponse',
});

const tags: [string] = ['Cabinet Account Linking'];

function linkAnswer(outcome: LinkOutcome) {
  return outcome.kind === 'merge_required'
    ? { success: false, message: null, mergeRequired: true, mergeToken: outcome.mergeToken }
    : { success: true, message: outcome.kind, mergeRequired: false, mergeToken: null };
}

/** The schema has checked that there is exactly one proof. The widget's fields keep their names, because the signature covers the names. */
function proofOf(body: z.infer<typeof LinkMessengerRequest>): MessengerProof {
  const { init_data, id_token, id, auth_date, hash, ...names } = body;
  if (typeof init_data === 'string') return { initData: init_data };
  if (typeof id_token === 'string') return { idToken: id_token };
  return { widget: { ...names, id: id ?? 0, auth_date: auth_date ?? 0, hash: hash ?? '' } };
}

const linkRouter = router({
  init: freshCabinetProcedure
    .meta({
      openapi: { method: 'GET', path: '/cabinet/auth/account/link/{provider}/init', tags, summary: 'Begin to link a provider' },
      description: 'Begins to link a provider to the own account: returns the address to send the browser to.',
      refuses: [providerUnavailable, providerAlreadyLinked],
      writes: true,
    })
    .input(fromWire(OAuthProviderPath))
    .output(toWire(LinkInitResponse))
    .query(({ ctx, input }) => startLinking(ctx.app, ctx.actor, input.provider)),

  callback: freshCabinetProcedure
    .meta({
      openapi: { method: 'POST', path: '/cabinet/auth/account/link/{provider}/callback', tags, summary: 'Link a provider' },
      description:
        'Links a provider to the own account. If the identity belongs to another account, nothing is linked and a merge token is returned.',
      refuses: LINKING_REFUSES,
    })
    .input(fromWire(withBody(OAuthProviderPath, LinkCallbackRequest)))
    .output(toWire(LinkCallbackResponse))
    .mutation(async ({ ctx, input: { provider, code, state, deviceId = null } }) =>
      linkAnswer(await completeLinking(ctx.app, ctx.actor, provider, { code, state, deviceId })),
    ),

  messenger: freshCabinetProcedure
    .use(async ({ ctx, next }) => {
      await limitByAddress(ctx, 'account/link/messenger', 10);
      return next();
    })
    .meta({
      openapi: { method: 'POST', path: '/cabinet/auth/account/link/messenger', tags, summary: 'Link a messenger account' },
      description:
        'Links a messenger account to the own account, by launch data, login widget or OpenID Connect token; exactly one of them is sent. If it belongs to another account, a merge token is returned.',
      refuses: [...MESSENGER_LINK_REFUSES, tooManyRequests],
    })
    .input(LinkMessengerRequest)
    .output(toWire(LinkCallbackResponse))
    .mutation(async ({ ctx, input }) => linkAnswer(await linkMessenger(ctx.app, ctx.actor, proofOf(input)))),

  serverComplete: limitedProcedure('account/link/server-complete', 10)
    .meta({
      openapi: {
        method: 'POST',
        path: '/cabinet/auth/account/link/server-complete',
        tags,
        summary: 'Link a provider in a browser that is not signed in: the state is the credential',
      },
      description:
        'Links a provider in a browser that is not signed in, such as the external browser of the mini-app. The state is the credential and works once.',
      refuses: [...LINKING_BY_STATE_REFUSES, tooManyRequests],
    })
    .input(fromWire(ServerCompleteRequest))
    .output(toWire(ServerCompleteResponse))
    .mutation(async ({ ctx, input: { code, state, deviceId = null, provider: named = null } }) => {
      const request = { code, state, deviceId, provider: named };
      const { outcome, provider } = await completeLinkingByState(ctx.app, request);
      return { ...linkAnswer(outcome), provider };
    }),
});

export const accountLinkingRouter = router({
  linkedProviders: cabinetProcedure
    .meta({
      openapi: {
        method: 'GET',
        path: '/cabinet/auth/account/linked-providers',
        tags,
        summary: 'List sign-in methods of the own account',
      },
      description: 'Lists the ways to sign in and which of them the own account has.',
    })
    .output(toWire(LinkedProvidersResponse))
    .query(async ({ ctx }) => {
      const providers = await listLinkedProviders(ctx.app, ctx.actor);
      return {
        providers: providers.map(({ provider, identifier }) => ({ provider, linked: identifier !== null, identifier })),
      };
    }),

  link: linkRouter,

  unlink: freshCabinetProcedure
    .meta({
      openapi: { method: 'POST', path: '/cabinet/auth/account/unlink/{provider}', tags, summary: 'Unlink a provider' },
      description: 'Unlinks a provider from the own account. The last way to sign in cannot be unlinked.',
      refuses: UNLINK_REFUSES,
    })
    .input(fromWire(OAuthProviderPath))
    .output(toWire(UnlinkResponse))
    .mutation(async ({ ctx, input }) => {
      await unlinkProvider(ctx.app, ctx.actor, input.provider);
      return { success: true };
    }),
});
