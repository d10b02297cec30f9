/** Branding of the cabinet and styles of its menu buttons. */
const PUBLIC = 'Every page reads it: no credential, and `If-None-Match` with the `ETag` of the last answer is answered with 304.';
const EVERYWHERE = 'Every instance shows the change within a second.';

export const BRANDING_OPERATIONS: Readonly<Record<string, string>> = {
  'GET /cabinet/branding': `Returns name and logo of the cabinet. ${PUBLIC}`,
  'GET /cabinet/branding/logo':
    'Returns the image as it is stored, with its type, `ETag` and `Last-Modified`; browsers may keep it for an hour. `If-None-Match` with the current tag is answered with 304. An SVG image is sent as a download with a sandbox policy: pages can show it, but it is never opened as a document.',
  'POST /cabinet/branding/logo': `Replaces the logo by a PNG, JPEG, WebP or SVG image of up to 5 MB. The content must be of the declared type. An image that is wider or higher than 1024 pixels is scaled down; more than 4096x4096 pixels are refused, as is an animation above 1024. Of an SVG image only what draws is stored: scripts, links, animations and references to other files are removed. ${EVERYWHERE}`,
  'DELETE /cabinet/branding/logo': `Deletes the logo, so that the first letter of the name is shown. Repeating the call changes nothing. ${EVERYWHERE}`,
  'PUT /cabinet/branding/name': `Changes the name. It is trimmed; an empty one is allowed, where the logo alone is to be shown. ${EVERYWHERE}`,
  'GET /cabinet/branding/colors': `Returns the colours of the cabinet. ${PUBLIC}`,
  'PATCH /cabinet/branding/colors': `Changes the given colours; absent and null ones remain. If one is invalid, none is changed. ${EVERYWHERE}`,
  'POST /cabinet/branding/colors/reset': `Resets all colours to their defaults. ${EVERYWHERE}`,
  'GET /cabinet/branding/themes': `Returns which themes users can choose. ${PUBLIC}`,
  'PATCH /cabinet/branding/themes': `Changes which themes users can choose; absent and null ones remain. One must be left. ${EVERYWHERE}`,
  'GET /cabinet/branding/animation': `Returns whether the background is animated. ${PUBLIC}`,
  'PATCH /cabinet/branding/animation': `Switches the animation, in its configuration too. ${EVERYWHERE}`,
  'GET /cabinet/branding/animation-config': `Returns the animation of the background. ${PUBLIC}`,
  'PATCH /cabinet/branding/animation-config': `Changes the given fields; absent and null ones remain, \`settings\` is replaced as a whole. \`enabled\` is the switch of \`/cabinet/branding/animation\`. ${EVERYWHERE}`,
  'GET /cabinet/branding/fullscreen': `Returns whether the mini-app opens in full screen. ${PUBLIC}`,
  'PATCH /cabinet/branding/fullscreen': `Switches full screen. Only the front end uses it. ${EVERYWHERE}`,
  'GET /cabinet/branding/lite-mode': `Returns whether the cabinet is simplified. ${PUBLIC}`,
  'PATCH /cabinet/branding/lite-mode': `Switches the simplified cabinet. Only the front end uses it. ${EVERYWHERE}`,
  'GET /cabinet/branding/gift-enabled': `Returns whether gifts are sold. ${PUBLIC}`,
  'PATCH /cabinet/branding/gift-enabled':
    'Switches the sale of gifts in the cabinet. New purchases are refused immediately while it is off.',
  'GET /cabinet/branding/email-auth': `Returns whether users can sign in with an e-mail address and must confirm it. ${PUBLIC}`,
  'PATCH /cabinet/branding/email-auth': `Switches registration and sign-in with an e-mail address: the setting \`CABINET_EMAIL_AUTH_ENABLED\`. The stored value takes precedence over the environment. ${EVERYWHERE}`,
  'GET /cabinet/branding/messenger-widget': `Returns the messenger's sign-in button. It is changed through the settings \`MESSENGER_WIDGET_…\` and \`MESSENGER_OIDC_…\`, whose stored values take precedence over the environment. ${PUBLIC}`,
  'GET /cabinet/branding/analytics': `Returns the counters of visits. ${PUBLIC}`,
  'PATCH /cabinet/branding/analytics': `Changes the given counters; absent and null ones remain, an empty text clears one. If one is invalid, none is changed. ${EVERYWHERE}`,

  'GET /cabinet/admin/button-styles': 'Returns the styles of the seven sections of the menu in cabinet mode.',
  'PATCH /cabinet/admin/button-styles':
    'Changes the given fields of the given sections; absent and null ones remain, `labels` is replaced as a whole. If one is invalid, nothing is changed. The chat shows it from the next message on.',
  'POST /cabinet/admin/button-styles/reset':
    'Resets the styles of all sections, that of the language button too. Rows and buttons of your own remain.',
};
