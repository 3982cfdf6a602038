//! Files that only their owner may read.
//!
//! The data directory has the keys of operators and services, what users of the site did, and whom tokens belong to.
//! Whatever the umask is, other users of the machine can read none of it, and no file in it is a symbolic link that
//! would let somebody choose what this process reads or writes.

use std::{
    fs::{self, DirBuilder, File, Metadata, OpenOptions, Permissions},
    io::{self, Read},
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

use rustix::{
    fs::{OFlags, StatVfsMountFlags, fstatvfs},
    io::Errno,
    process::geteuid,
};

/// The bits that let others than the owner of a file do something with it.
const OTHERS: u32 = 0o077;
/// The bits that let users do something with it who are neither the owner nor of its group.
const EVERYBODY: u32 = 0o007;
/// A directory with this bit is shared on purpose, as `/tmp` is.
const STICKY: u32 = 0o1000;

/// What may lie in a data directory. A directory with something else in it is not ours to close.
const OURS: [&str; 9] = [
    "lock",
    "rooms.",
    "redis-rooms.",
    "keys.",
    "admin.key",
    "admin.new",
    "admin-sessions.",
    "audit.",
    "boxoffice.db",
];
/// File systems have it at their root.
const LOST_AND_FOUND: &str = "lost+found";

/// Makes a data directory for its owner alone, with the directories above it.
///
/// One that others can enter is closed to them if nothing but files of Ropeline is in it.
pub fn make_directory(path: &Path) -> io::Result<()> {
    make_directory_with(path, None)
}

/// As [`make_directory`], where a database of this name may be in the directory, too.
pub fn make_directory_with(path: &Path, database: Option<&Path>) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    match DirBuilder::new().mode(0o700).create(path) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            close_directory(path, database)
        }
        Err(error) => Err(error),
    }
}

fn close_directory(path: &Path, database: Option<&Path>) -> io::Result<()> {
    let metadata = fs::metadata(path)?;
    if !metadata.is_dir() {
        return Err(io::Error::from(io::ErrorKind::NotADirectory));
    }
    let directory = path.display();
    if !is_own(&metadata) {
        let owner = metadata.uid();
        tracing::warn!(
            "the data directory {directory} belongs to user {owner}, who can read and replace everything in it"
        );
    }
    if mode(&metadata) & OTHERS == 0 {
        return Ok(());
    }
    if !is_ours(path, database)?
        || fs::set_permissions(path, Permissions::from_mode(0o700)).is_err()
    {
        tracing::warn!(
            "other users of this machine can enter the data directory {directory}: run `chmod 700 {directory}`"
        );
        return Ok(());
    }
    tracing::info!(
        "other users of this machine can no longer enter the data directory {directory}"
    );
    Ok(())
}

/// Whether everything in a directory is Ropeline's. A directory with the sticky bit is shared with others, unless it is
/// the root of a file system with nothing else on it.
fn is_ours(path: &Path, database: Option<&Path>) -> io::Result<bool> {
    let database = database.filter(|file| is_in(file, path));
    let mut count = 0;
    for entry in fs::read_dir(path)? {
        let name = entry?.file_name();
        let is_database = database.is_some_and(|database| {
            let files = sqlite_files(database);
            files.iter().any(|file| file.file_name() == Some(&name))
        });
        let name = name.to_string_lossy();
        let is_known = name == LOST_AND_FOUND || OURS.iter().any(|ours| name.starts_with(ours));
        if !is_known && !is_database {
            return Ok(false);
        }
        count += 1;
    }
    let is_sticky = mode(&fs::metadata(path)?) & STICKY != 0;
    Ok(count > 0 || !is_sticky)
}

fn is_in(file: &Path, directory: &Path) -> bool {
    let directories = (
        fs::canonicalize(directory_of(file)),
        fs::canonicalize(directory),
    );
    matches!(directories, (Ok(of_file), Ok(directory)) if of_file == directory)
}

/// Makes a SQLite database for its owner alone, or closes one that is there, with the files that SQLite has next to it.
///
/// SQLite itself would give a new one the permissions of the umask. A symbolic link is refused.
pub fn prepare_database(file: &Path) -> io::Result<()> {
    open(file, File::options().append(true).create(true))?;
    for companion in &sqlite_files(file)[1..] {
        match open(companion, File::options().read(true)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// A SQLite database and the files that SQLite has next to it.
fn sqlite_files(database: &Path) -> [PathBuf; 4] {
    ["", "-wal", "-shm", "-journal"].map(|suffix| {
        let mut name = database.as_os_str().to_owned();
        name.push(suffix);
        name.into()
    })
}

/// Opens a file of the data directory as `options` say. A new one is for its owner alone, and so is an old one from
/// then on. A symbolic link is refused.
pub fn open(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let file = open_file(path, options)?;
    let looser = mode(&file.metadata()?) & OTHERS != 0;
    // Who is not the owner cannot change it, and has been given the rights on purpose.
    if looser && file.set_permissions(Permissions::from_mode(0o600)).is_ok() {
        tracing::info!(
            "other users of this machine can no longer read {}",
            path.display()
        );
    }
    Ok(file)
}

/// Reads a file of the data directory. A symbolic link is refused.
pub fn read(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    open(path, File::options().read(true))?.read_to_string(&mut text)?;
    Ok(text)
}

/// Reads a secret of the data directory, which nobody else may have been able to read. A symbolic link is refused.
///
/// It may belong to the user of this process, to root, or to the owner of the directory, who could put another file
/// there: operators who are root use the keys of servers that are not. On a read-only mount, as the secrets of containers
/// are, it may belong to anybody.
pub fn read_secret(path: &Path) -> io::Result<String> {
    let mut file = open_file(path, File::options().read(true))?;
    let metadata = file.metadata()?;
    if mode(&metadata) & OTHERS != 0 {
        return Err(exposed(path, "600"));
    }
    let is_given = || is_on_read_only_mount(&file);
    if !is_own(&metadata) && owner_of_directory(path)? != metadata.uid() && !is_given() {
        return Err(foreign(path, metadata.uid()));
    }
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    Ok(text)
}

/// Opens a secret that the operator keeps elsewhere.
///
/// Its group may read it, since services are often given their secrets so; everybody may not, unless it is on a read-only
/// file system, as the secrets of containers are.
pub fn open_given_secret(path: &Path) -> io::Result<File> {
    let file = File::open(path)?;
    if mode(&file.metadata()?) & EVERYBODY != 0 && !is_on_read_only_mount(&file) {
        return Err(exposed(path, "o="));
    }
    Ok(file)
}

/// Whether nobody but this process and root can read it by owning it.
fn is_own(metadata: &Metadata) -> bool {
    let owner = metadata.uid();
    owner == 0 || owner == geteuid().as_raw()
}

fn owner_of_directory(file: &Path) -> io::Result<u32> {
    Ok(fs::metadata(directory_of(file))?.uid())
}

fn directory_of(file: &Path) -> &Path {
    let parent = file.parent();
    let named = parent.filter(|parent| !parent.as_os_str().is_empty());
    named.unwrap_or(Path::new("."))
}

fn is_on_read_only_mount(file: &File) -> bool {
    fstatvfs(file).is_ok_and(|system| system.f_flag.contains(StatVfsMountFlags::RDONLY))
}

fn exposed(path: &Path, mode: &str) -> io::Error {
    let path = path.display();
    io::Error::other(format!(
        "other users of this machine can read it: run `chmod {mode} {path}`, and replace the key if they may have"
    ))
}

fn foreign(path: &Path, owner: u32) -> io::Error {
    let (path, user) = (path.display(), geteuid().as_raw());
    io::Error::other(format!(
        "it belongs to user {owner}, who can read it: run `chown {user} {path}`, and replace the key if they may have"
    ))
}

fn open_file(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW.bits().cast_signed();
    let opened = options.mode(0o600).custom_flags(flags).open(path);
    opened.map_err(|error| {
        if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            return io::Error::other(format!(
                "{name} is a symbolic link: put the file itself there"
            ));
        }
        error
    })
}

fn mode(metadata: &Metadata) -> u32 {
    metadata.permissions().mode()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{chown, symlink};

    use tempfile::TempDir;

    use super::*;

    fn directory() -> TempDir {
        tempfile::tempdir().unwrap()
    }

    fn mode_of(path: &Path) -> u32 {
        mode(&fs::metadata(path).unwrap()) & 0o7777
    }

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_directory_is_made_for_its_owner_alone_and_one_that_is_there_is_closed() {
        let parent = directory();
        let data = parent.path().join("a/data");
        make_directory(&data).unwrap();
        assert_eq!(mode_of(&data), 0o700);
        set_mode(&data, 0o755);
        fs::write(data.join("rooms.redb"), "").unwrap();
        make_directory(&data).unwrap();
        assert_eq!(mode_of(&data), 0o700);
    }

    #[test]
    fn a_directory_with_files_of_others_or_for_everybody_is_left_as_it_is() {
        let shared = directory();
        set_mode(shared.path(), 0o1777);
        make_directory(shared.path()).unwrap();
        assert_eq!(mode_of(shared.path()), 0o1777);
        let home = directory();
        set_mode(home.path(), 0o755);
        fs::write(home.path().join("letter.txt"), "").unwrap();
        make_directory(home.path()).unwrap();
        assert_eq!(mode_of(home.path()), 0o755);
    }

    #[test]
    fn a_file_is_for_its_owner_alone_from_its_first_use_on() {
        let data = directory();
        let path = data.path().join("audit.log");
        let mut append = File::options();
        append.append(true).create(true);
        open(&path, &mut append).unwrap();
        assert_eq!(mode_of(&path), 0o600);
        set_mode(&path, 0o664);
        open(&path, &mut append).unwrap();
        assert_eq!(mode_of(&path), 0o600);
    }

    #[test]
    fn a_symbolic_link_is_refused_and_its_target_left_alone() {
        let data = directory();
        let (target, link) = (data.path().join("target"), data.path().join("audit.log"));
        fs::write(&target, "before").unwrap();
        set_mode(&target, 0o644);
        symlink(&target, &link).unwrap();
        let opened = open(&link, File::options().append(true).create(true));
        for error in [
            opened.unwrap_err(),
            read(&link).unwrap_err(),
            read_secret(&link).unwrap_err(),
        ] {
            assert!(error.to_string().contains("symbolic link"), "{error}");
        }
        assert_eq!(mode_of(&target), 0o644);
    }

    #[test]
    fn a_directory_with_a_database_that_was_named_is_closed() {
        let data = directory();
        let database = data.path().join("books.db");
        for file in ["lock", "books.db", "books.db-wal", "books.db-shm"] {
            fs::write(data.path().join(file), "").unwrap();
        }
        for (named, mode) in [
            (None, 0o755),
            (Some(Path::new("/elsewhere/books.db")), 0o755),
            (Some(database.as_path()), 0o700),
        ] {
            set_mode(data.path(), 0o755);
            make_directory_with(data.path(), named).unwrap();
            assert_eq!(mode_of(data.path()), mode, "{named:?}");
        }
        set_mode(data.path(), 0o755);
        fs::write(data.path().join("books.db.old"), "").unwrap();
        make_directory_with(data.path(), Some(&database)).unwrap();
        assert_eq!(mode_of(data.path()), 0o755);
    }

    #[test]
    fn a_secret_of_another_user_is_refused_unless_the_directory_is_theirs_too() {
        let data = directory();
        let path = data.path().join("admin.key");
        fs::write(&path, "secret").unwrap();
        set_mode(&path, 0o600);
        chown(&path, Some(10_001), None).expect("the tests run as root");
        let refused = read_secret(&path).unwrap_err().to_string();
        let command = format!("chown 0 {}", path.display());
        for part in ["user 10001", &command] {
            assert!(refused.contains(part), "{refused}");
        }
        chown(data.path(), Some(10_001), None).expect("the tests run as root");
        assert_eq!(read_secret(&path).unwrap(), "secret");
    }

    #[test]
    fn a_secret_that_others_can_read_is_refused_with_the_command_that_helps() {
        let data = directory();
        let path = data.path().join("admin.key");
        fs::write(&path, "secret").unwrap();
        for (bits, own, given) in [
            (0o600, true, true),
            (0o400, true, true),
            (0o640, false, true),
            (0o644, false, false),
            (0o604, false, false),
        ] {
            set_mode(&path, bits);
            assert_eq!(read_secret(&path).is_ok(), own, "{bits:o}");
            assert_eq!(open_given_secret(&path).is_ok(), given, "{bits:o}");
        }
        let refused = read_secret(&path).unwrap_err().to_string();
        assert!(
            refused.contains(&format!("chmod 600 {}", path.display())),
            "{refused}"
        );
    }
}
