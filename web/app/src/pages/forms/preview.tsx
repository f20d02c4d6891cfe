import './form.css';
import { useId, useState } from 'react';
import { createPortal } from 'react-dom';
import { languageOf } from '../../../../../platform/languages.ts';
import { DARK_PAGE, LIGHT_PAGE, type PageColors, pageColorsOf } from '../../../../../platform/page-colors.ts';
import { formTexts } from '../../../../form-texts.ts';
import pageCss from '../../../../page.css?raw';
import { useProject } from '../../api/hooks.ts';
import { t } from '../../texts/index.ts';
import { Panel } from '../../ui/page.tsx';
import { DEFAULT } from '../topics/form.ts';
import { useTopics } from '../topics/queries.ts';
import { type FieldDraft, type FormDraft, linesOf, optionTexts, shownTexts } from './draft.ts';
import type { PageLook } from './look.ts';

interface FormPreviewProps {
  draft: FormDraft;
  locale: string;
  look: PageLook | undefined;
}

const HEIGHT = 620;

/** The page of a form in a language, as it is edited. The frame keeps its styles apart from ours, and runs no script. */
export function FormPreview({ draft, locale, look }: FormPreviewProps) {
  const [body, setBody] = useState<HTMLElement>();
  return (
    <Panel title={t.forms.preview} description={t.forms.previewText}>
      <iframe
        className="form-preview"
        sandbox="allow-same-origin"
        srcDoc="<!doctype html><title>.</title>"
        title={t.forms.previewFrame}
        height={HEIGHT}
        tabIndex={-1}
        onLoad={({ currentTarget }) => setBody(currentTarget.contentDocument?.body)}
      />
      {body && look && createPortal(<PreviewPage draft={draft} locale={locale} look={look} />, body)}
    </Panel>
  );
}

const colorRule = ({ button, buttonText, link }: PageColors): string =>
  `:root { --brand: ${button}; --on-brand: ${buttonText}; --link: ${link}; }`;

/** `web/form.njk` for a form that is not saved. */
function PreviewPage({ draft, locale, look }: FormPreviewProps & { look: PageLook }) {
  const project = useProject();
  const language = languageOf(locale === DEFAULT ? undefined : locale, project?.language);
  const words = formTexts[language];
  const { name, consentText, submitLabel, labels, options } = shownTexts(draft.texts, locale);
  const { color } = draft;
  const light = color ? pageColorsOf(color, LIGHT_PAGE) : look.light;
  const dark = color ? pageColorsOf(color, DARK_PAGE) : look.dark;
  const topics = (useTopics().data ?? [])
    .filter(({ id }) => draft.topicIds.includes(id))
    .map(({ id, name, consentText, translations }) => ({ id, name, consentText, ...translations[locale] }));
  return (
    <div lang={language} inert>
      <style>{pageCss}</style>
      <style>{`main { margin-block: 1rem; } footer { margin-top: 0; } ${colorRule(light)} @media (prefers-color-scheme: dark) { ${colorRule(dark)} }`}</style>
      <style>{look.css}</style>
      <style>{draft.css}</style>
      <main>
        {look.logoUrl && <img className="logo" src={look.logoUrl} alt={look.name} />}
        <h1>{name || '—'}</h1>
        <form>
          <label>
            {words.email} <input type="email" />
          </label>
          {draft.fields.map((field) => (
            <PreviewField
              key={field.id}
              field={field}
              label={labels[field.id] ?? ''}
              options={optionTexts(field, options[field.id])}
              choose={words.choose}
            />
          ))}
          {topics.length > 1
            ? topics.map(({ id, name, consentText }) => <Box key={id} label={name} detail={consentText} checked />)
            : topics.map(
                ({ id, consentText }) =>
                  consentText && (
                    <p key={id} className="detail">
                      {consentText}
                    </p>
                  ),
              )}
          {draft.consentRequired && <Box label={consentText} plain />}
          {!draft.consentRequired && consentText && <p className="detail">{consentText}</p>}
          {draft.privacyUrl && (
            <p className="detail">
              <a href="#privacy">{words.privacy}</a>
            </p>
          )}
          <button type="button">{submitLabel || words.submit}</button>
        </form>
      </main>
      {look.imprint && (
        <footer>
          <p className="imprint">{look.imprint}</p>
        </footer>
      )}
    </div>
  );
}

interface BoxProps {
  label: string;
  detail?: string;
  checked?: boolean;
  /** A sentence, not a name. */
  plain?: boolean;
}

function Box({ label, detail, checked = false, plain }: BoxProps) {
  const id = useId();
  return (
    <div className="choice">
      <input type="checkbox" id={id} checked={checked} readOnly />
      <div>
        <label htmlFor={id} className={plain ? 'plain' : undefined}>
          {label}
        </label>
        {detail && <p className="detail">{detail}</p>}
      </div>
    </div>
  );
}

interface PreviewFieldProps {
  field: FieldDraft;
  label: string;
  /** Texts of options by value. */
  options: Record<string, string>;
  choose: string;
}

function PreviewField({ field, label, options, choose }: PreviewFieldProps) {
  const id = useId();
  const { key, type, value } = field;
  if (type === 'HIDDEN') return null;
  const shown = label || key;
  if (type === 'BOOLEAN') return <Box label={shown} checked={value === 'true'} plain />;
  return (
    <label htmlFor={id}>
      {shown}{' '}
      {type === 'SELECT' ? (
        <select id={id} key={value} defaultValue={value}>
          <option value="">{choose}</option>
          {linesOf(field.options).map((option) => (
            <option key={option} value={option}>
              {options[option] ?? option}
            </option>
          ))}
        </select>
      ) : (
        <input id={id} type={type === 'DATE' ? 'date' : 'text'} value={value} readOnly />
      )}
    </label>
  );
}
