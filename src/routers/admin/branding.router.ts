import { FORM_REFUSALS } from '../../core/http/request-refusals.ts';
import {
  changeAnimation,
  changeColors,
  changeCounters,
  changeName,
  changeThemes,
  nameTooLong,
  readEmailAuth,
  resetColors,
  switchAnimation,
  switchFeature,
  viewBranding,
} from '../../domain/content/branding/branding.ts';
import {
  invalidColor,
  invalidGoogleAdsId,
  invalidGoogleAdsLabel,
  invalidYandexMetrikaId,
  noThemeEnabled,
} from '../../domain/content/branding/branding-values.ts';
import {
  invalidLogoType,
  logoAnimationTooLarge,
  logoTooLarge,
  logoTooManyPixels,
  MAX_LOGO_BYTES,
  removeLogo,
  replaceLogo,
} from '../../domain/content/branding/logo.ts';
import { putSetting } from '../../domain/settings/change-setting.ts';
import { animationAnswer } from '../cabinet/branding.router.ts';
import {
  AnalyticsCountersResponse,
  AnalyticsCountersUpdate,
  AnimationConfigResponse,
  AnimationConfigUpdate,
  AnimationEnabledResponse,
  AnimationEnabledUpdate,
  BrandingLogoUpload,
  BrandingNameUpdate,
  BrandingResponse,
  EmailAuthEnabledResponse,
  EmailAuthEnabledUpdate,
  EnabledThemesResponse,
  EnabledThemesUpdate,
  FullscreenEnabledResponse,
  FullscreenEnabledUpdate,
  GiftEnabledResponse,
  GiftEnabledUpdate,
  LiteModeEnabledResponse,
  LiteModeEnabledUpdate,
  ThemeColorsResponse,
  ThemeColorsUpdate,
} from '../cabinet/branding.schemas.ts';
import type { OperationMeta } from '../operation-meta.ts';
import { adminProcedure, router } from '../trpc.ts';
import { fromWire, toWire } from '../wire.ts';
import { editorOf } from './setting-editor.ts';

type Method = NonNullable<OperationMeta['openapi']>['method'];

function change(method: Method, path: `/${string}`, summary: string, description: string): OperationMeta {
  return { openapi: { method, path: `/cabinet/branding${path}`, tags: ['Branding'], summary }, description };
}

/** The administrator's part of the group; every operation answers the new state. */
const editor = adminProcedure('settings:edit', 'cabinet');

/** The writes of the group; it is one with its reads, since the contract has it in the cabinet's area. */
export const brandingEditorRouter = router({
  updateName: editor
    .meta({
      ...change(
        'PUT',
        '/name',
        'Change the name of the cabinet',
        'Changes the name. It is trimmed; an empty one is allowed, where the logo alone is to be shown. Every instance shows the change within a second.',
      ),
      refuses: [nameTooLong],
    })
    .input(fromWire(BrandingNameUpdate))
    .output(toWire(BrandingResponse))
    .mutation(async ({ ctx, input }) => viewBranding(ctx.app, await changeName(ctx.app, input.name))),

  uploadLogo: editor
    .meta({
      ...change(
        'POST',
        '/logo',
        'Upload a logo',
        'Replaces the logo by a PNG, JPEG, WebP or SVG image of up to 5 MB. The content must be of the declared type. An image that is wider or higher than 1024 pixels is scaled down; more than 4096x4096 pixels are refused, as is an animation above 1024. Of an SVG image only what draws is stored: scripts, links, animations and references to other files are removed. Every instance shows the change within a second.',
      ),
      refuses: [...FORM_REFUSALS, invalidLogoType, logoAnimationTooLarge, logoTooLarge, logoTooManyPixels],
      wire: { multipart: { fileKey: 'file', maxBytes: MAX_LOGO_BYTES, givesBeginning: true } },
      audit: { hide: ['file'] },
    })
    .input(BrandingLogoUpload)
    .output(toWire(BrandingResponse))
    .mutation(async ({ ctx, input }) => viewBranding(ctx.app, await replaceLogo(ctx.app, input.file))),

  deleteLogo: editor
    .meta(
      change(
        'DELETE',
        '/logo',
        'Delete the logo',
        'Deletes the logo, so that the first letter of the name is shown. Repeating the call changes nothing. Every instance shows the change within a second.',
      ),
    )
    .output(toWire(BrandingResponse))
    .mutation(async ({ ctx }) => viewBranding(ctx.app, await removeLogo(ctx.app))),

  updateColors: editor
    .meta({
      ...change(
        'PATCH',
        '/colors',
        'Change colours',
        'Changes the given colours; absent and null ones remain. If one is invalid, none is changed. Every instance shows the change within a second.',
      ),
      refuses: [invalidColor],
    })
    .input(fromWire(ThemeColorsUpdate))
    .output(toWire(ThemeColorsResponse))
    .mutation(async ({ ctx, input }) => (await changeColors(ctx.app, input)).colors),

  resetColors: editor
    .meta(
      change(
        'POST',
        '/colors/reset',
        'Reset all colours',
        'Resets all colours to their defaults. Every instance shows the change within a second.',
      ),
    )
    .output(toWire(ThemeColorsResponse))
    .mutation(async ({ ctx }) => (await resetColors(ctx.app)).colors),

  updateThemes: editor
    .meta({
      ...change(
        'PATCH',
        '/themes',
        'Choose the themes that users can choose',
        'Changes which themes users can choose; absent and null ones remain. One must be left. Every instance shows the change within a second.',
      ),
      refuses: [noThemeEnabled],
    })
    .input(fromWire(EnabledThemesUpdate))
    .output(toWire(EnabledThemesResponse))
    .mutation(async ({ ctx, input }) => (await changeThemes(ctx.app, input)).themes),

  updateAnimation: editor
    .meta(
      change(
        'PATCH',
        '/animation',
        'Switch the animation',
        'Switches the animation, in its configuration too. Every instance shows the change within a second.',
      ),
    )
    .input(fromWire(AnimationEnabledUpdate))
    .output(toWire(AnimationEnabledResponse))
    .mutation(async ({ ctx, input }) => ({ enabled: (await switchAnimation(ctx.app, input.enabled)).isAnimationEnabled })),

  updateAnimationConfig: editor
    .meta(
      change(
        'PATCH',
        '/animation-config',
        'Change the animation',
        'Changes the given fields; absent and null ones remain, `settings` is replaced as a whole. `enabled` is the switch of `/cabinet/branding/animation`. Every instance shows the change within a second.',
      ),
    )
    .input(fromWire(AnimationConfigUpdate))
    .output(toWire(AnimationConfigResponse))
    .mutation(async ({ ctx, input }) => animationAnswer(await changeAnimation(ctx.app, input))),

  updateFullscreen: editor
    .meta(
      change(
        'PATCH',
        '/fullscreen',
        'Switch full screen',
        'Switches full screen. Only the front end uses it. Every instance shows the change within a second.',
      ),
    )
    .input(fromWire(FullscreenEnabledUpdate))
    .output(toWire(FullscreenEnabledResponse))
    .mutation(async ({ ctx, input }) => {
      const state = await switchFeature(ctx.app, 'isFullscreenEnabled', input.enabled);
      return { enabled: state.isFullscreenEnabled };
    }),

  updateLiteMode: editor
    .meta(
      change(
        'PATCH',
        '/lite-mode',
        'Switch the simplified cabinet',
        'Switches the simplified cabinet. Only the front end uses it. Every instance shows the change within a second.',
      ),
    )
    .input(fromWire(LiteModeEnabledUpdate))
    .output(toWire(LiteModeEnabledResponse))
    .mutation(async ({ ctx, input }) => {
      const state = await switchFeature(ctx.app, 'isLiteModeEnabled', input.enabled);
      return { enabled: state.isLiteModeEnabled };
    }),

  updateGiftEnabled: editor
    .meta(
      change(
        'PATCH',
        '/gift-enabled',
        'Switch the sale of gifts',
        'Switches the sale of gifts in the cabinet. New purchases are refused immediately while it is off.',
      ),
    )
    .input(fromWire(GiftEnabledUpdate))
    .output(toWire(GiftEnabledResponse))
    .mutation(async ({ ctx, input }) => {
      const state = await switchFeature(ctx.app, 'isGiftEnabled', input.enabled);
      return { enabled: state.isGiftEnabled };
    }),

  updateEmailAuth: editor
    .meta(
      change(
        'PATCH',
        '/email-auth',
        'Switch sign-in with an e-mail address',
        'Switches registration and sign-in with an e-mail address: the setting `CABINET_EMAIL_AUTH_ENABLED`. The stored value takes precedence over the environment. Every instance shows the change within a second.',
      ),
    )
    .input(fromWire(EmailAuthEnabledUpdate))
    .output(toWire(EmailAuthEnabledResponse))
    .mutation(async ({ ctx, input }) => {
      await putSetting(ctx.app, editorOf(ctx.actor), 'CABINET_EMAIL_AUTH_ENABLED', input.enabled);
      return readEmailAuth(ctx.app);
    }),

  updateAnalytics: editor
    .meta({
      ...change(
        'PATCH',
        '/analytics',
        'Change the counters of visits',
        'Changes the given counters; absent and null ones remain, an empty text clears one. If one is invalid, none is changed. Every instance shows the change within a second.',
      ),
      refuses: [invalidGoogleAdsId, invalidGoogleAdsLabel, invalidYandexMetrikaId],
    })
    .input(fromWire(AnalyticsCountersUpdate))
    .output(toWire(AnalyticsCountersResponse))
    .mutation(async ({ ctx, input }) => (await changeCounters(ctx.app, input)).analytics),
});
