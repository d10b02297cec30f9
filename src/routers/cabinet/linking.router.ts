import type { z } from 'zod';
import { tooManyRequests } from '../../core/rate-limit.ts';
import {
  completeLinking,
  completeLinkingByState,
  initDataInvalid,
  type LinkOutcome,
  linkMessenger,
  listLinkedProviders,
  type MessengerProof,
  messengerAlreadyLinked,
  providerAlreadyLinked,
  providerNotLinked,
  startLinking,
  unlinkProvider,
} from '../../domain/identity/linking.ts';
import { providerUnavailable, stateInvalid } from '../../domain/identity/oauth/sign-in-with-provider.ts';
import { cabinetProcedure, router } from '../trpc.ts';
import { fromWire, toWire, withBody } from '../wire.ts';
import { limitByAddress, limitedProcedure } from './limited-procedure.ts';
import * as schemas from './linking.schemas.ts';
import { OAuthProviderPath } from './oauth.schemas.ts';

const tags: [string] = ['Cabinet Account Linking'];

function linkAnswer(outcome: LinkOutcome) {
  return outcome.kind === 'merge_required'
    ? { success: false, message: null, mergeRequired: true, mergeToken: outcome.mergeToken }
    : { success: true, message: outcome.kind, mergeRequired: false, mergeToken: null };
}

/** The schema has checked that there is exactly one proof. The widget's fields keep their names, because the signature covers the names. */
function proofOf(body: z.infer<typeof schemas.LinkMessengerRequest>): MessengerProof {
  const { init_data, id_token, id, auth_date, hash, ...names } = body;
  if (typeof init_data === 'string') return { initData: init_data };
  if (typeof id_token === 'string') return { idToken: id_token };
  return { widget: { ...names, id: id ?? 0, auth_date: auth_date ?? 0, hash: hash ?? '' } };
}

const linkRouter = router({
  init: cabinetProcedure
    .meta({
      openapi: { method: 'GET', path: '/cabinet/auth/account/link/{provider}/init', tags, summary: 'Begin to link a provider' },
      description: 'Begins to link a provider to the own account: returns the address to send the browser to.',
      refuses: [providerUnavailable, providerAlreadyLinked],
      writes: true,
    })
    .input(fromWire(OAuthProviderPath))
    .output(toWire(schemas.LinkInitResponse))
    .query(({ ctx, input }) => startLinking(ctx.app, ctx.actor, input.provider)),

  callback: cabinetProcedure
    .meta({
      openapi: { method: 'POST', path: '/cabinet/auth/account/link/{provider}/callback', tags, summary: 'Link a provider' },
      description:
        'Links a provider to the own account. If the identity belongs to another account, nothing is linked and a merge token is returned.',
      refuses: [stateInvalid],
    })
    .input(fromWire(withBody(OAuthProviderPath, schemas.LinkCallbackRequest)))
    .output(toWire(schemas.LinkCallbackResponse))
    .mutation(async ({ ctx, input: { provider, code, state, deviceId = null } }) =>
      linkAnswer(await completeLinking(ctx.app, ctx.actor, provider, { code, state, deviceId })),
    ),

  messenger: cabinetProcedure
    .use(async ({ ctx, next }) => {
      await limitByAddress(ctx, 'account/link/messenger', 10);
      return next();
    })
    .meta({
      openapi: { method: 'POST', path: '/cabinet/auth/account/link/messenger', tags, summary: 'Link a messenger account' },
      description:
        'Links a messenger account to the own account, by launch data, login widget or OpenID Connect token; exactly one of them is sent. If it belongs to another account, a merge token is returned.',
      refuses: [initDataInvalid, messengerAlreadyLinked, tooManyRequests],
    })
    .input(schemas.LinkMessengerRequest)
    .output(toWire(schemas.LinkCallbackResponse))
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
      refuses: [stateInvalid, tooManyRequests],
    })
    .input(fromWire(schemas.ServerCompleteRequest))
    .output(toWire(schemas.ServerCompleteResponse))
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
    .output(toWire(schemas.LinkedProvidersResponse))
    .query(async ({ ctx }) => {
      const providers = await listLinkedProviders(ctx.app, ctx.actor);
      return {
        providers: providers.map(({ provider, identifier }) => ({ provider, linked: identifier !== null, identifier })),
      };
    }),

  link: linkRouter,

  unlink: cabinetProcedure
    .meta({
      openapi: { method: 'POST', path: '/cabinet/auth/account/unlink/{provider}', tags, summary: 'Unlink a provider' },
      description: 'Unlinks a provider from the own account. The last way to sign in cannot be unlinked.',
      refuses: [providerNotLinked],
    })
    .input(fromWire(OAuthProviderPath))
    .output(toWire(schemas.UnlinkResponse))
    .mutation(async ({ ctx, input }) => {
      await unlinkProvider(ctx.app, ctx.actor, input.provider);
      return { success: true };
    }),
});
