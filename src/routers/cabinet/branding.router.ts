import { z } from 'zod';
import { fileReply } from '../../core/http/http-client.ts';
import { readBranding, readEmailAuth, readMessengerWidget, viewBranding } from '../../domain/content/branding/branding.ts';
import { noLogo, readLogo } from '../../domain/content/branding/logo.ts';
import type { BrandingState } from '../../domain/content/branding/types.ts';
import type { OperationMeta } from '../operation-meta.ts';
import { publicProcedure, router } from '../trpc.ts';
import { toWire } from '../wire.ts';
import {
  AnalyticsCountersResponse,
  AnimationConfigResponse,
  AnimationEnabledResponse,
  BrandingResponse,
  EmailAuthEnabledResponse,
  EnabledThemesResponse,
  FullscreenEnabledResponse,
  GiftEnabledResponse,
  LiteModeEnabledResponse,
  MessengerWidgetConfigResponse,
  ThemeColorsResponse,
} from './branding.schemas.ts';

/** Every page of the cabinet reads these, signed in or not: no credential, no gates, nothing but cached values. */
function page(path: '' | `/${string}`, summary: string, description: string): OperationMeta {
  return {
    openapi: { method: 'GET', path: `/cabinet/branding${path}`, tags: ['Branding'], summary },
    description,
    wire: { hasEtag: true },
  };
}

const EXTENSIONS = { 'image/png': 'png', 'image/jpeg': 'jpg', 'image/webp': 'webp', 'image/svg+xml': 'svg' } as const;

/** The `settings` of an animation have the keys that an administrator gave them, and are not changed in place. */
export const animationAnswer = ({ animation }: BrandingState) => ({ ...animation, settings: { ...animation.settings } });

export const brandingRouter = router({
  get: publicProcedure('cabinet')
    .meta(
      page(
        '',
        'Name and logo of the cabinet',
        'Returns name and logo of the cabinet. Every page reads it: no credential, and `If-None-Match` with the `ETag` of the last answer is answered with 304.',
      ),
    )
    .output(toWire(BrandingResponse))
    .query(async ({ ctx }) => viewBranding(ctx.app, await readBranding(ctx.app))),

  logo: publicProcedure('cabinet')
    .meta({
      ...page(
        '/logo',
        'The logo',
        'Returns the image as it is stored, with its type, `ETag` and `Last-Modified`; browsers may keep it for an hour. `If-None-Match` with the current tag is answered with 304. An SVG image is sent as a download with a sandbox policy: pages can show it, but it is never opened as a document.',
      ),
      refuses: [noLogo],
      wire: { reply: 'file' },
    })
    .output(z.unknown())
    .query(async ({ ctx }) => {
      const { contentType, content, etag, updatedAt } = await readLogo(ctx.app);
      return fileReply({
        filename: `logo.${EXTENSIONS[contentType]}`,
        contentType,
        body: content,
        etag,
        // Pages show an image whatever its disposition; opened by itself, an SVG image is downloaded and never a document.
        inline: contentType !== 'image/svg+xml',
        headers: {
          'cache-control': 'public, max-age=3600',
          'last-modified': updatedAt.toUTCString(),
          'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; sandbox",
          // The cabinet may be on another origin than the service.
          'cross-origin-resource-policy': 'cross-origin',
        },
      });
    }),

  colors: publicProcedure('cabinet')
    .meta(
      page(
        '/colors',
        'Colours of the cabinet',
        'Returns the colours of the cabinet. Every page reads it: no credential, and `If-None-Match` with the `ETag` of the last answer is answered with 304.',
      ),
    )
    .output(toWire(ThemeColorsResponse))
    .query(async ({ ctx }) => (await readBranding(ctx.app)).colors),

  themes: publicProcedure('cabinet')
    .meta(
      page(
        '/themes',
        'Themes that users can choose',
        'Returns which themes users can choose. Every page reads it: no credential, and `If-None-Match` with the `ETag` of the last answer is answered with 304.',
      ),
    )
    .output(toWire(EnabledThemesResponse))
    .query(async ({ ctx }) => (await readBranding(ctx.app)).themes),

  animation: publicProcedure('cabinet')
    .meta(
      page(
        '/animation',
        'Whether the background is animated',
        'Returns whether the background is animated. Every page reads it: no credential, and `If-None-Match` with the `ETag` of the last answer is answered with 304.',
      ),
    )
    .output(toWire(AnimationEnabledResponse))
    .query(async ({ ctx }) => ({ enabled: (await readBranding(ctx.app)).isAnimationEnabled })),

  animationConfig: publicProcedure('cabinet')
    .meta(
      page(
        '/animation-config',
        'Animation of the background',
        'Returns the animation of the background. Every page reads it: no credential, and `If-None-Match` with the `ETag` of the last answer is answered with 304.',
      ),
    )
    .output(toWire(AnimationConfigResponse))
    .query(async ({ ctx }) => animationAnswer(await readBranding(ctx.app))),

  fullscreen: publicProcedure('cabinet')
    .meta(
      page(
        '/fullscreen',
        'Whether the mini-app opens in full screen',
        'Returns whether the mini-app opens in full screen. Every page reads it: no credential, and `If-None-Match` with the `ETag` of the last answer is answered with 304.',
      ),
    )
    .output(toWire(FullscreenEnabledResponse))
    .query(async ({ ctx }) => ({ enabled: (await readBranding(ctx.app)).isFullscreenEnabled })),

  liteMode: publicProcedure('cabinet')
    .meta(
      page(
        '/lite-mode',
        'Whether the cabinet is simplified',
        'Returns whether the cabinet is simplified. Every page reads it: no credential, and `If-None-Match` with the `ETag` of the last answer is answered with 304.',
      ),
    )
    .output(toWire(LiteModeEnabledResponse))
    .query(async ({ ctx }) => ({ enabled: (await readBranding(ctx.app)).isLiteModeEnabled })),

  giftEnabled: publicProcedure('cabinet')
    .meta(
      page(
        '/gift-enabled',
        'Whether gifts are sold',
        'Returns whether gifts are sold. Every page reads it: no credential, and `If-None-Match` with the `ETag` of the last answer is answered with 304.',
      ),
    )
    .output(toWire(GiftEnabledResponse))
    .query(async ({ ctx }) => ({ enabled: (await readBranding(ctx.app)).isGiftEnabled })),

  emailAuth: publicProcedure('cabinet')
    .meta(
      page(
        '/email-auth',
        'Whether users can sign in with an e-mail address',
        'Returns whether users can sign in with an e-mail address and must confirm it. Every page reads it: no credential, and `If-None-Match` with the `ETag` of the last answer is answered with 304.',
      ),
    )
    .output(toWire(EmailAuthEnabledResponse))
    .query(({ ctx }) => readEmailAuth(ctx.app)),

  messengerWidget: publicProcedure('cabinet')
    .meta(
      page(
        '/messenger-widget',
        "The messenger's sign-in button",
        "Returns the messenger's sign-in button. It is changed through the settings `MESSENGER_WIDGET_…` and `MESSENGER_OIDC_…`, whose stored values take precedence over the environment. Every page reads it: no credential, and `If-None-Match` with the `ETag` of the last answer is answered with 304.",
      ),
    )
    .output(toWire(MessengerWidgetConfigResponse))
    .query(({ ctx }) => readMessengerWidget(ctx.app)),

  analytics: publicProcedure('cabinet')
    .meta(
      page(
        '/analytics',
        'Counters of visits',
        'Returns the counters of visits. Every page reads it: no credential, and `If-None-Match` with the `ETag` of the last answer is answered with 304.',
      ),
    )
    .output(toWire(AnalyticsCountersResponse))
    .query(async ({ ctx }) => (await readBranding(ctx.app)).analytics),
});
