import './brand.css';
import { Alert, Badge, Button, Grid, NativeSelect, NumberInput, Stack, Text, Textarea } from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconDeviceFloppy } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { type SyntheticEvent, useRef } from 'react';
import type { BrandKit } from '../../api/api-types.ts';
import { unwrap } from '../../api/client.ts';
import { useAction, useApi, useRights } from '../../api/hooks.ts';
import { messageOf } from '../../api/problem.ts';
import { SocialLinks } from '../../editor/inspector/social-fields.tsx';
import { FONTS } from '../../editor/view/theme.ts';
import { t } from '../../texts/index.ts';
import { useWarnBeforeLeaving } from '../../ui/leaving.tsx';
import { Loaded, Page, Panel } from '../../ui/page.tsx';
import { ApplyPanel } from '../jobs/apply-panel.tsx';
import { ColorFields } from './color-fields.tsx';
import { formOf, type KitForm, requestOf, webAddress } from './kit.ts';
import { LogoField } from './logo-field.tsx';
import { BrandPreview } from './preview.tsx';

export function BrandPage() {
  const { client, key } = useApi();
  const kit = useQuery({ queryKey: key('brand-kit'), queryFn: () => unwrap(client.GET('/brand-kit')) });
  if (kit.data) return <BrandForm kit={kit.data} />;
  return (
    <Page title={t.brand.title} description={t.brand.description}>
      <Loaded query={kit}>{() => null}</Loaded>
    </Page>
  );
}

function BrandForm({ kit }: { kit: BrandKit }) {
  const { client, key } = useApi();
  const { write } = useRights();
  const element = useRef<HTMLFormElement>(null);
  const form = useForm<KitForm>({ initialValues: formOf(kit) });
  const save = useAction<KitForm, BrandKit>({
    run: (values) => unwrap(client.PUT('/brand-kit', { body: requestOf(values) })),
    done: () => t.brand.saved,
    changes: [key('brand-kit'), key('gallery'), key('render')],
    quiet: true,
    onDone: (saved) => {
      form.setInitialValues(formOf(saved));
      form.setValues(formOf(saved));
    },
  });
  const isDirty = form.isDirty();
  useWarnBeforeLeaving(isDirty);
  const set = <Name extends keyof KitForm>(name: Name) => {
    return (value: KitForm[Name]) => form.setValues({ [name]: value } as Partial<KitForm>);
  };
  const submit = (event: SyntheticEvent<HTMLFormElement>) => {
    // A field with a fault has not passed on what was typed.
    const fault = element.current?.querySelector<HTMLElement>('[aria-invalid=true]');
    if (fault) {
      event.preventDefault();
      fault.focus();
    } else form.onSubmit((values) => save.mutate(values))(event as Parameters<ReturnType<typeof form.onSubmit>>[0]);
  };
  const { values } = form;
  const fonts = FONTS.map((font) => ({ value: font, label: font === 'system' ? t.editor.systemFont : font }));
  return (
    <Page
      title={t.brand.title}
      description={t.brand.description}
      badge={isDirty && <Badge color="yellow">{t.common.unsaved}</Badge>}
      actions={
        write && (
          <Button
            type="submit"
            form="brand-form"
            leftSection={<IconDeviceFloppy size={16} />}
            loading={save.isPending}
            disabled={!isDirty}
          >
            {t.common.save}
          </Button>
        )
      }
    >
      <Grid gap="lg">
        <Grid.Col span={{ base: 12, lg: 7 }}>
          <form id="brand-form" ref={element} onSubmit={submit} noValidate>
            <fieldset className="brand-fields" disabled={!write}>
              <Stack gap="lg">
                {save.error && <Alert color="red">{messageOf(save.error)}</Alert>}
                <Panel title={t.brand.logo} description={t.brand.logoHint}>
                  <LogoField value={values.logoUrl} onChange={set('logoUrl')} />
                </Panel>
                <Panel title={t.brand.colorsTitle} description={t.brand.colorsHint}>
                  <div className="brand-colors">
                    <ColorFields title={t.brand.light} colors={values.colors} onChange={set('colors')} />
                    <ColorFields title={t.brand.dark} colors={values.darkColors} onChange={set('darkColors')} />
                  </div>
                </Panel>
                <Panel title={t.brand.fonts}>
                  <Stack maw={420}>
                    <NativeSelect label={t.brand.font} data={fonts} {...form.getInputProps('font')} />
                    <NativeSelect label={t.brand.headingFont} data={fonts} {...form.getInputProps('headingFont')} />
                    <NumberInput
                      label={t.brand.radius}
                      min={0}
                      max={32}
                      suffix=" px"
                      allowDecimal={false}
                      clampBehavior="blur"
                      value={values.radius}
                      onChange={(value) => {
                        if (typeof value === 'number' && value >= 0 && value <= 32) set('radius')(value);
                      }}
                    />
                  </Stack>
                </Panel>
                <Panel title={t.brand.footer} description={t.brand.footerHint}>
                  <Stack maw={520}>
                    <Textarea
                      label={t.brand.address}
                      description={t.brand.addressHint}
                      autosize
                      minRows={2}
                      maxLength={1000}
                      {...form.getInputProps('address')}
                    />
                    <fieldset className="brand-fields">
                      <Text component="legend" size="sm" fw={600} mb={6}>
                        {t.brand.socialLinks}
                      </Text>
                      <SocialLinks links={values.socialLinks} onChange={set('socialLinks')} read={webAddress} />
                    </fieldset>
                  </Stack>
                </Panel>
              </Stack>
            </fieldset>
          </form>
        </Grid.Col>
        <Grid.Col span={{ base: 12, lg: 5 }}>
          <div className="sticky">
            <Panel title={t.templates.preview}>
              <BrandPreview form={values} />
            </Panel>
          </div>
        </Grid.Col>
      </Grid>
      {write && (
        <ApplyPanel
          title={t.brand.apply}
          text={isDirty ? t.brand.applyAfterSave : t.brand.applyText}
          disabled={isDirty}
          start={() => unwrap(client.POST('/brand-kit/apply'))}
        />
      )}
    </Page>
  );
}
