import { Alert, Box, Button, Group, Select, Stack, Text } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { unwrap } from '../../api/client.ts';
import { useAction, useApi } from '../../api/hooks.ts';
import { messageOf } from '../../api/problem.ts';
import type { Recipe } from '../../api/types.ts';
import { t } from '../../texts/index.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Loaded } from '../../ui/page.tsx';

/** Ready workflows; one click installs one with its templates and cases, disabled. */
export function RecipesDialog({ opened, onClose }: { opened: boolean; onClose(): void }) {
  const { client, key, projectId } = useApi();
  const navigate = useNavigate();
  const [domain, setDomain] = useState<string | null>(null);
  const recipes = useQuery({
    queryKey: key('recipes'),
    queryFn: () => unwrap(client.GET('/workflows/recipes')),
    staleTime: Number.POSITIVE_INFINITY,
    enabled: opened,
  });
  const domains = useQuery({
    queryKey: key('domains'),
    queryFn: () => unwrap(client.GET('/domains/project/{projectId}', { params: { path: { projectId } } })),
    enabled: opened,
  });
  const verified = (domains.data ?? []).filter((one) => one.verified).map((one) => one.domain);
  const sender = domain ?? verified[0];
  const install = useAction({
    run: (recipe: string) =>
      unwrap(
        client.POST('/workflows/recipes', {
          body: { recipe, ...(sender !== undefined && { from: `hello@${sender}` }) },
        }),
      ),
    done: ({ name }) => t.canvas.recipeInstalled(name),
    changes: [key('workflows'), key('templates')],
    quiet: true,
    onDone: ({ id }) => void navigate({ to: '/p/$projectId/workflows/$id', params: { projectId, id } }),
  });
  return (
    <Dialog opened={opened} onClose={onClose} title={t.canvas.recipesTitle}>
      <Stack>
        <Text c="dimmed">{t.canvas.recipesText}</Text>
        {install.error && <Alert color="red">{messageOf(install.error)}</Alert>}
        {verified.length > 1 && (
          <Select
            label={t.canvas.recipeDomain}
            allowDeselect={false}
            data={verified}
            value={sender ?? null}
            onChange={setDomain}
          />
        )}
        {domains.data && verified.length === 0 && <Alert color="yellow">{t.canvas.recipeNoDomain}</Alert>}
        <Loaded query={recipes}>
          {({ recipes: all }) => (
            <Stack component="ul" gap="sm" m={0} p={0} className="plain-list">
              {all.map((recipe) => (
                <Box component="li" key={recipe.id} className="record">
                  <RecipeItem
                    recipe={recipe}
                    isBusy={install.isPending && install.variables === recipe.id}
                    onInstall={() => install.mutate(recipe.id)}
                  />
                </Box>
              ))}
            </Stack>
          )}
        </Loaded>
      </Stack>
    </Dialog>
  );
}

interface RecipeItemProps {
  recipe: Recipe;
  isBusy: boolean;
  onInstall(): void;
}

function RecipeItem({ recipe, isBusy, onInstall }: RecipeItemProps) {
  const own = (t.canvas.recipes as Record<string, { name: string; text: string }>)[recipe.id];
  const name = own?.name ?? recipe.name;
  return (
    <Group justify="space-between" gap="sm" align="flex-start">
      <Box flex="1 1 14rem" miw={0}>
        <Text fw={600}>{name}</Text>
        <Text size="sm">{own?.text ?? recipe.description}</Text>
        <Text size="sm" c="dimmed">
          {t.canvas.recipeParts(recipe.stepCount, recipe.templateCount, recipe.caseCount)} · {recipe.eventName}
        </Text>
      </Box>
      <Button
        size="xs"
        leftSection={<IconDownload size={14} />}
        loading={isBusy}
        onClick={onInstall}
        aria-label={t.canvas.installRecipe(name)}
      >
        {t.canvas.install}
      </Button>
    </Group>
  );
}
