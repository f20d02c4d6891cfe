// Makes the API reference interactive: filter, tabs of examples, and forms that call the API. Works on the page as it is
// without this script, too. Inlined, and allowed by its hash.
(() => {
  const APPEARANCE = 'vitepress-theme-appearance'; // shared with the guides
  const LANGUAGE = 'everpost-reference-language';
  const MAX_SHOWN = 200_000;
  const find = (selector, inside = document) => inside.querySelector(selector);
  const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];
  const element = (name, properties = {}) => Object.assign(document.createElement(name), properties);

  const isDark = () => {
    const chosen = localStorage.getItem(APPEARANCE);
    return chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
  };
  const appearance = find('#appearance');
  const applyAppearance = () => {
    const chosen = localStorage.getItem(APPEARANCE);
    if (chosen === 'dark' || chosen === 'light') document.documentElement.dataset.theme = chosen;
    appearance.textContent = isDark() ? 'Light' : 'Dark';
    appearance.setAttribute('aria-label', isDark() ? 'Switch to light colours' : 'Switch to dark colours');
  };
  appearance.hidden = false;
  appearance.addEventListener('click', () => {
    localStorage.setItem(APPEARANCE, isDark() ? 'light' : 'dark');
    applyAppearance();
  });
  applyAppearance();

  const filter = find('#filter');
  filter?.addEventListener('input', () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const section of all('main section')) {
      const title = find('h2', section).textContent.toLowerCase();
      let visible = 0;
      for (const item of all('li', section)) {
        const text = `${title} ${item.textContent.toLowerCase()}`;
        item.hidden = !words.every((word) => text.includes(word));
        if (!item.hidden) visible++;
      }
      section.hidden = visible === 0;
      shown += visible;
    }
    find('#filter-result').textContent = words.length > 0 ? `${shown} operations` : '';
  });

  const showLanguage = (language) => {
    for (const sample of all('.sample')) sample.hidden = sample.dataset.language !== language;
    for (const tab of all('[role=tab]')) {
      const selected = tab.dataset.language === language;
      tab.setAttribute('aria-selected', String(selected));
      tab.tabIndex = selected ? 0 : -1;
    }
    localStorage.setItem(LANGUAGE, language);
  };
  for (const [n, samples] of all('.samples').entries()) {
    const bar = element('div', { className: 'bar' });
    const tabs = element('div', { className: 'bar', role: 'tablist', ariaLabel: 'Language of the example' });
    for (const sample of all('.sample', samples)) {
      const { language, label } = sample.dataset;
      sample.id = `sample-${n}-${language}`;
      sample.setAttribute('role', 'tabpanel');
      sample.setAttribute('aria-label', label);
      const tab = element('button', { type: 'button', role: 'tab', textContent: label });
      tab.dataset.language = language;
      tab.setAttribute('aria-controls', sample.id);
      tab.addEventListener('click', () => showLanguage(language));
      tabs.append(tab);
    }
    tabs.addEventListener('keydown', (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const buttons = [...tabs.children];
      const next = buttons[(buttons.indexOf(document.activeElement) + step + buttons.length) % buttons.length];
      showLanguage(next.dataset.language);
      next.focus();
    });
    const copy = element('button', { type: 'button', className: 'copy', textContent: 'Copy' });
    copy.addEventListener('click', async () => {
      await navigator.clipboard.writeText(find('.sample:not([hidden]) code', samples).textContent);
      copy.textContent = 'Copied';
      setTimeout(() => {
        copy.textContent = 'Copy';
      }, 2_000);
    });
    bar.append(tabs, copy);
    samples.prepend(bar);
  }
  const stored = localStorage.getItem(LANGUAGE);
  showLanguage(['curl', 'typescript', 'python'].includes(stored) ? stored : 'curl');

  const credentials = find('#credentials');
  const project = new URLSearchParams(location.search).get('project');
  if (project) sessionStorage.setItem('everpost-reference-project', project);
  if (credentials) {
    credentials.hidden = false;
    credentials.addEventListener('submit', (event) => event.preventDefault());
    for (const input of all('input', credentials)) {
      const name = `everpost-reference-${input.name}`;
      input.value = sessionStorage.getItem(name) ?? '';
      input.addEventListener('input', () => sessionStorage.setItem(name, input.value.trim()));
    }
  }

  const requestOf = (form) => {
    const { method, path } = form.dataset;
    const headers = new Headers();
    const [key, projectId] = ['key', 'project'].map((name) => find(`[name=${name}]`, credentials).value.trim());
    if (key) headers.set('Authorization', `Bearer ${key}`);
    else if (projectId) headers.set('X-Project-Id', projectId);
    const query = new URLSearchParams();
    const data = new FormData();
    let [filled, isForm] = [path, false];
    for (const field of all('[data-place]', form)) {
      const { place } = field.dataset;
      if (place === 'form' || place === 'file') isForm = true;
      if (place === 'file') for (const file of field.files) data.append(field.name, file);
      if (field.value === '' || place === 'file') continue;
      if (place === 'path') filled = filled.replace(`{${field.name}}`, encodeURIComponent(field.value));
      if (place === 'query') query.set(field.name, field.value);
      if (place === 'header') headers.set(field.name, field.value);
      if (place === 'form') data.append(field.name, field.value);
    }
    const json = find('[name=body]', form)?.value;
    if (json !== undefined) headers.set('Content-Type', 'application/json');
    const body = json ?? (isForm ? (find('[type=file]', form) ? data : new URLSearchParams(data)) : undefined);
    const base = location.pathname.slice(0, location.pathname.indexOf('/docs/api'));
    const credentialsMode = key ? 'omit' : 'same-origin';
    const url = `${base}${filled}${query.size > 0 ? `?${query}` : ''}`;
    return [url, { method, headers, body, credentials: credentialsMode, redirect: 'manual' }];
  };

  const pretty = (text) => {
    try {
      return JSON.stringify(JSON.parse(text), null, 2);
    } catch {
      return text;
    }
  };

  const showAnswer = async (answer, response, startedAt) => {
    const time = Math.round(performance.now() - startedAt);
    const redirected = response.type === 'opaqueredirect';
    const status = redirected ? 'A redirect' : `${response.status} ${response.statusText}`.trim();
    const head = element('p', {
      className: `status ${response.ok || redirected ? 'good' : 'bad'}`,
      textContent: `${status}, ${time} ms`,
    });
    const output = element('pre', { tabIndex: 0, role: 'region', ariaLabel: 'Answer' });
    answer.replaceChildren(head, output);
    // Read piece by piece, because a stream of events does not end.
    const decoder = new TextDecoder();
    let text = '';
    for (const reader = response.body?.getReader(); reader; ) {
      const { done, value } = await reader.read();
      if (done) break;
      text += decoder.decode(value, { stream: true });
      output.textContent = text.slice(0, MAX_SHOWN);
      if (text.length > MAX_SHOWN) break;
    }
    output.textContent = text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}\n… cut` : pretty(text) || '(no body)';
  };

  for (const details of all('.try')) {
    details.hidden = false;
    const form = find('form', details);
    const answer = find('.answer', form);
    const stop = find('.stop', form);
    let current;
    stop.addEventListener('click', () => current?.abort());
    form.addEventListener('submit', async (event) => {
      event.preventDefault();
      current?.abort();
      const attempt = new AbortController();
      current = attempt;
      stop.hidden = false;
      answer.textContent = 'Sending …';
      try {
        const [url, options] = requestOf(form);
        const startedAt = performance.now();
        await showAnswer(answer, await fetch(url, { ...options, signal: attempt.signal }), startedAt);
      } catch (error) {
        if (!attempt.signal.aborted)
          answer.replaceChildren(element('p', { className: 'bad', textContent: `No answer: ${error.message}` }));
      } finally {
        if (current === attempt) stop.hidden = true;
      }
    });
  }
})();
