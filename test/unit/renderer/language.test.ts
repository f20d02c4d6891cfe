import { expect } from 'chai';
import { checkTemplate } from '../../../platform/templates/language/template.ts';
import { render, renderSubject } from './rendering.ts';

describe('the template language', () => {
  it('reports a missing operand as a violation', () => {
    const [violation] = checkTemplate('{{ item%}.name | upper }}');
    expect(violation).to.deep.equal({ line: 1, column: 10, message: 'an expression is missing' });
  });

  describe('variables', () => {
    const ann = {
      name: 'Ann',
      'first name': 'Ann',
      'address line 1': '1 Main St',
      profile: { tier: 'gold' },
      plan: null,
    };

    it('are available by name and under data', () => {
      expect(render('{{name}} {{data.name}} {{data["name"]}}', ann)).to.equal('Ann Ann Ann');
    });

    it('may have spaces in their names', () => {
      expect(render('{{first name}} {{ data["first name"] | upper }} {{ data.first name }}', ann)).to.equal(
        'Ann ANN Ann',
      );
      expect(render('{{ address line 1 | lower }}', ann)).to.equal('1 main st');
      expect(render('{% if first name == "Ann" and not last name %}yes{% endif %}', ann)).to.equal('yes');
      const stock = { 'is active': true, 'in stock': 3, is: 1, list: [1] };
      expect(render('{{is active}} {{ data.is active }} {{ in stock }} {{ in stock ?? 0 }}', stock)).to.equal(
        'true true 3 3',
      );
      expect(
        render('{% if is active and in stock %}{{ "a" if not is active else in stock }}{% endif %}', stock),
      ).to.equal('3');
      expect(
        render('{{ 1 in list }} {{ 2 not in list }} {{ list is defined }} {{ a is not defined }}', stock),
      ).to.equal('true true true true');
      expect(render('{% for c in first name %}{{ c }}.{% endfor %}', ann)).to.equal('A.n.n.');
      expect(render('{{ a  b }}{{ a\n b }}', { 'a  b': 'two', 'a b': 'one' })).to.equal('twoone');
    });

    it('give access to nested values', () => {
      expect(render('{{profile.tier}} {{data.profile.tier}} {{profile["tier"]}}', ann)).to.equal('gold gold gold');
    });

    it('are empty when missing, also in sums and concatenations', () => {
      expect(render('[{{x}}{{x.y.z}}{{data.x}}{{plan}}{{x + 1}}{{x ~ ""}}{{"" + x}}]', ann)).to.equal('[]');
    });

    it('use the fallback only when missing or null', () => {
      expect(render('{{x ?? "there"}} {{plan ?? \'free\'}} {{name??"x"}}', ann)).to.equal('there free Ann');
      expect(render('{{zero ?? 1}}{{no ?? 1}}[{{blank ?? 1}}]', { zero: 0, no: false, blank: '' })).to.equal(
        '0false[]',
      );
      expect(render('{{ a ?? b ?? "c" }} {{ (x ?? "y") | upper }} {{ first name ?? "z" }}', ann)).to.equal('c Y Ann');
      expect(render('{% if (count ?? 0) > 3 %}many{% else %}few{% endif %}', { count: 4 })).to.equal('many');
    });
  });

  describe('HTML', () => {
    it('is escaped in values unless they are marked safe', () => {
      expect(render('{{x}} {{x | safe}}', { x: '<b>"&\'' })).to.equal('&lt;b&gt;&quot;&amp;&#39; <b>"&\'');
    });

    it('from a macro is not escaped twice', () => {
      expect(render('{% macro b(x) %}<b>{{x}}</b>{% endmacro %}{{ b("<") }}')).to.equal('<b>&lt;</b>');
    });
  });

  describe('subjects', () => {
    it('are not escaped', () => {
      expect(renderSubject('{{x}} & you', { x: 'Tom & "Ann" <a@b.c>' })).to.equal('Tom & "Ann" <a@b.c> & you');
    });

    it('never contain a line break', () => {
      const breaks = ['\r\n', '\n', '\r', '\u2028', '\u2029', '\u0085', '\v', '\f', '\0'];
      for (const separator of breaks) {
        expect(renderSubject('a{{x}}b', { x: `${separator}Bcc: c@d.e` })).to.equal('a Bcc: c@d.eb');
        expect(renderSubject(`a${separator}b`)).to.equal('a b');
      }
      expect(renderSubject('a{{ "\\n" }}b{{ "\\r\\n" | safe }}c{% set x %}\n{% endset %}{{ x }}d')).to.equal('a b c d');
    });

    it('are cut at 998 characters without splitting a character', () => {
      expect(renderSubject('{{x}}', { x: 'x'.repeat(2000) })).to.have.lengthOf(998);
      expect(renderSubject('{{x}}', { x: `${'x'.repeat(997)}😀` })).to.equal('x'.repeat(997));
    });
  });

  describe('filters', () => {
    it('never fail on values of another type', () => {
      const kinds = [
        undefined,
        null,
        0,
        -1.5,
        Number.NaN,
        true,
        '',
        'text',
        [],
        [null],
        [[1]],
        {},
        { a: { b: 1 } },
        [{ a: 1 }],
      ];
      const names =
        'abs batch capitalize center d default dictsort dump e escape first float forceescape groupby indent int join last length ' +
        'list lower nl2br random reject rejectattr replace reverse round safe select selectattr slice sort string striptags sum ' +
        'title trim truncate upper urlencode urlize wordcount';
      for (const name of names.split(' '))
        for (const x of kinds)
          for (const args of ['', '(x)', '(x, x)', '(x, x, x)', '("a")', '(2)', '(-1, 3)'])
            expect(render(`{{ x | ${name}${args} }}`, { x }), `${name}${args} of ${JSON.stringify(x)}`).to.be.a(
              'string',
            );
    });

    it('accept arguments by name', () => {
      expect(render('{{ x | truncate(length=3, killwords=true, end="~") }}', { x: 'abcdef' })).to.equal('abc~');
    });

    it('urlize addresses and escape the HTML around them', () => {
      expect(render('{{ x | urlize }}', { x: '<b>hi</b>' })).to.equal('&lt;b&gt;hi&lt;/b&gt;');
      expect(render('{{ x | urlize }}', { x: 'http://a.com/"onclick="x' })).to.equal(
        '<a href="http://a.com/&quot;onclick=&quot;x">http://a.com/&quot;onclick=&quot;x</a>',
      );
    });
  });

  describe('an invalid template', () => {
    it('has its variables replaced and the rest kept', () => {
      const data = { name: 'Ann', 'first name': 'Ann', profile: { tier: '<gold>' }, list: ['x'] };
      expect(render('{% if %}{{name}} {{ first name }} {{profile.tier}} {{list[0]}}', data)).to.equal(
        '{% if %}Ann Ann &lt;gold&gt; x',
      );
      expect(render('{% x %}{{data["first name"]}} {{nope ?? "there"}} {{nope}}|', data)).to.equal(
        '{% x %}Ann there |',
      );
      expect(render('{{ a + b }} {{name | nope}} {{{name}}} {{', data)).to.equal(
        '{{ a + b }} {{name | nope}} {Ann} {{',
      );
    });

    it('is detected for subject and body separately', () => {
      expect(renderSubject('{{ x | nope }} {{name}}', { name: 'Ann' })).to.equal('{{ x | nope }} Ann');
    });
  });
});
