import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { findOnPath } from './run-command.js';
/**
 * The distribution's own Redis, unpacked into `cacheFolder`: nothing is installed on the system, no root is needed, and apt checks signatures as
 * always. Already unpacked, no network is used. Null where there is no apt, or apt has no Redis; throws when the download fails.
 */
export async function unpackedRedis({ cacheFolder, children, notice, signal }) {
    const folder = join(cacheFolder, 'redis');
    const unpacked = programIn(folder);
    if (unpacked)
        return unpacked;
    if (!findOnPath('apt-get') || !findOnPath('dpkg-deb'))
        return null;
    notice('No Redis on this machine: fetching the distribution’s package (about 2 MB) …');
    const apt = join(cacheFolder, 'apt');
    const archives = join(apt, 'archives');
    rmSync(archives, { recursive: true, force: true });
    mkdirSync(join(archives, 'partial'), { recursive: true });
    await download(apt, children, signal);
    const unfinished = `${folder}.${process.pid}`;
    rmSync(unfinished, { recursive: true, force: true });
    for (const file of readdirSync(archives).filter((name) => name.endsWith('.deb')))
        await children.run('dpkg-deb', ['--extract', join(archives, file), unfinished], { signal });
    rmSync(folder, { recursive: true, force: true });
    renameSync(unfinished, folder);
    rmSync(apt, { recursive: true, force: true });
    return programIn(folder);
}
/** Fetches redis-server and what it needs that this machine lacks: with the system's package lists, else with lists of our own. */
async function download(apt, children, signal) {
    const options = ['-q', '-y', ...settings({ 'Dir::Cache': apt, 'Dir::Cache::archives': join(apt, 'archives') })];
    const install = ['--no-install-recommends', '--download-only', 'install', 'redis-server'];
    try {
        await children.run('apt-get', [...options, ...install], { signal });
    }
    catch (error) {
        if (signal.aborted)
            throw error;
        // No lists, or lists so old that they name files which are gone.
        const lists = join(apt, 'lists');
        mkdirSync(join(lists, 'partial'), { recursive: true });
        const own = [...options, ...settings({ 'Dir::State::lists': lists })];
        await children.run('apt-get', [...own, '-o', 'APT::Update::Error-Mode=any', 'update'], { signal });
        await children.run('apt-get', [...own, ...install], { signal });
    }
}
/** Nothing of the system's is written, so no lock of the system's is needed, and no user to hand downloads to. */
const settings = (folders) => Object.entries({ ...folders, 'Debug::NoLocking': '1', 'APT::Sandbox::User': '' }).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
function programIn(folder) {
    const file = join(folder, 'usr/bin/redis-server');
    if (!existsSync(file))
        return null;
    const libraries = ['usr/lib', 'lib'].flatMap((place) => {
        const inside = join(folder, place);
        return existsSync(inside) ? [inside, ...readdirSync(inside).map((triplet) => join(inside, triplet))] : [];
    });
    return { file, env: { LD_LIBRARY_PATH: [...libraries, process.env.LD_LIBRARY_PATH].filter(Boolean).join(':') } };
}
//# sourceMappingURL=redis-package.js.map